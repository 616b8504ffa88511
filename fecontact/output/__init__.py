"""Files, figures and progress of runs; plotting and VTK packages load only when they are used."""

from fecontact.output.compare import compare_results
from fecontact.output.progress import Progress
from fecontact.output.writer import FolderWriter, save_result

__all__ = ["FolderWriter", "Progress", "compare_results", "save_result"]
