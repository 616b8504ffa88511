"""Studies: many variants of a case, run in parallel, resumed, tabulated and drawn."""

from fecontact.study.progress import StudyProgress
from fecontact.study.results import Study
from fecontact.study.sweeping import sweep

__all__ = ["Study", "StudyProgress", "sweep"]
