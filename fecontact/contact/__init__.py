"""Contact: candidates, obstacles, local frames, gaps, H, and the two kinds of reactions."""

from fecontact.contact.against_obstacle import Contact, ObstacleInterface
from fecontact.contact.interface import Interface
from fecontact.contact.laws import Law, PointLaws
from fecontact.contact.local import LocalContacts, Stacked, stack
from fecontact.contact.obstacles import Disk, HalfPlane, Obstacle, Polyline
from fecontact.contact.pair_interface import PairInterface
from fecontact.contact.pairs import PairContact
from fecontact.contact.results import ContactState
from fecontact.contact.status import Status, classify

__all__ = [
    "Contact",
    "ContactState",
    "Disk",
    "HalfPlane",
    "Interface",
    "Law",
    "LocalContacts",
    "Obstacle",
    "ObstacleInterface",
    "PairContact",
    "PairInterface",
    "PointLaws",
    "Polyline",
    "Stacked",
    "Status",
    "classify",
    "stack",
]
