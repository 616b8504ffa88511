"""A directive that documents every public name of the package, by the module it comes from."""

from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

import fecontact


class PublicNames(Directive):
    """``.. public-names:: module ...``: the names of these modules; ``rest`` for all others.

    The modules named anywhere on the page are given by the option so that none comes twice.
    """

    has_content = False
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = {"without": lambda text: text.split()}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Produce autodoc directives and let them be read."""
        asked = self.arguments[0].split()
        if asked == ["rest"]:
            asked = [m for m in fecontact._WHERE if m not in self.options.get("without", [])]
        lines = [".. currentmodule:: fecontact", ""]
        for module in asked:
            for name in fecontact._WHERE[module]:
                found = getattr(import_module(f"fecontact.{module}"), name)
                kind = "class" if isinstance(found, type) else "function"
                lines.append(f".. auto{kind}:: {name}")
                lines += ["   :members:"] if kind == "class" else []
                lines.append("")
        node = nodes.section()
        node.document = self.state.document
        source = StringList(lines, source="public names")
        self.state.nested_parse(source, self.content_offset, node)
        return list(node.children)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive with Sphinx."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
