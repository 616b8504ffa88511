"""Assembly of mass, stiffness and damping matrices and of internal forces."""

from fecontact.assembly.assembler import Assembler
from fecontact.assembly.pattern import Pattern, find_pattern

__all__ = ["Assembler", "Pattern", "find_pattern"]
