"""Certificates: how well a step obeys the laws, computed from its results and not by its solver."""

from fecontact.certificate.laws import LawFigures, law_figures
from fecontact.certificate.saved import SavedStep, saved_step
from fecontact.certificate.step import Certifier
from fecontact.certificate.verdict import Certificate, Verdict, limits

__all__ = [
    "Certificate",
    "Certifier",
    "LawFigures",
    "SavedStep",
    "Verdict",
    "law_figures",
    "limits",
    "saved_step",
]
