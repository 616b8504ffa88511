"""Draw the pictures of the documentation from the case files: python docs/make_images.py."""

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import fecontact as fc
from fecontact.output.figures import plot_deformed, plot_reactions

HERE = Path(__file__).parent


def main() -> None:
    case = fc.read_case(HERE.parent / "cases" / "sliding_block.toml")
    result = fc.build(case).run()
    figure = Figure(figsize=(12.0, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    model = result.simulation.model
    plot_deformed(left, result.final, model.solid)
    plot_reactions(right, result.contacts["base"])
    (HERE / "images").mkdir(exist_ok=True)
    figure.savefig(HERE / "images" / "sliding_block.png", dpi=110)


if __name__ == "__main__":
    main()
