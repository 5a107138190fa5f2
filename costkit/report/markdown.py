r"""How does Markdown become HTML in which a formula is MathML and a dollar is a dollar?

- `$..$` is a formula under pandoc's rule: no space inside the dollars, and no digit right after the closing one, so
  "$5 and $6" stays money. `\$` is always a dollar. `$$..$$` is a formula on lines of its own.
- MathML needs no script and no font from elsewhere: every current browser draws it.
"""

from __future__ import annotations

import functools
import html
import re

import mistune
from latex2mathml.converter import convert
from mistune.plugins import import_plugin

_INLINE = r"\$\$(?P<display_tex>(?:[^$\\]|\\.)+?)\$\$|(?<![\\$])\$(?P<tex>(?=\S)(?:[^$\\\n]|\\.)+?(?<=\S))\$(?![\d$])"
_BLOCK = r"^ {0,3}\$\$(?P<block_tex>[^$]+?)\$\$[ \t]*(?:\n|$)"


def to_html(text: str) -> str:
    r"""The HTML of a Markdown text; what it holds of HTML passes through, for the page to judge.

    >>> to_html("It costs $5 and then \\$6, **not** $7.")
    '<p>It costs $5 and then $6, <strong>not</strong> $7.</p>\n'
    >>> to_html("$6ND$")[:14]
    '<p><math altte'
    """
    return str(_parser()(text))


def mathml(tex: str, *, display: bool = False) -> str:
    r"""A TeX formula as MathML with the TeX as its alternative text; plain code where it cannot be read.

    >>> mathml("N^2")
    '<math alttext="N^2" display="inline"><mrow><msup><mi>N</mi><mn>2</mn></msup></mrow></math>'
    >>> mathml("\\left(a")
    '<code>\\left(a</code>'
    """
    try:
        converted = convert(tex.strip(), display="block" if display else "inline")
    except Exception:  # noqa: BLE001 - latex2mathml raises whatever its parser ran into
        return f"<code>{html.escape(tex)}</code>"
    alternative = f'<math alttext="{html.escape(" ".join(tex.split()))}"'
    return re.sub(r'^<math xmlns="[^"]*"', lambda _: alternative, converted)


@functools.cache
def _parser() -> mistune.Markdown:
    renderer = mistune.HTMLRenderer(escape=False)
    renderer.register("block_math", lambda _, tex: f"<p>{mathml(tex, display=True)}</p>\n")
    renderer.register("display_math", lambda _, tex: mathml(tex, display=True))
    renderer.register("inline_math", lambda _, tex: mathml(tex))
    parser = mistune.Markdown(renderer)
    parser.block.register("block_math", _BLOCK, _read_block, before="list")
    parser.inline.register("inline_math", _INLINE, _read_inline, before="codespan")
    for plugin in ("table", "strikethrough", "def_list"):
        parser.use(import_plugin(plugin))
    return parser


def _read_block(_: mistune.BlockParser, match: re.Match[str], state: mistune.BlockState) -> int:
    state.append_token({"type": "block_math", "raw": match["block_tex"]})
    return match.end()


def _read_inline(_: mistune.InlineParser, match: re.Match[str], state: mistune.InlineState) -> int:
    kind, tex = ("inline_math", match["tex"]) if match["tex"] else ("display_math", match["display_tex"])
    state.append_token({"type": kind, "raw": tex})
    return match.end()
