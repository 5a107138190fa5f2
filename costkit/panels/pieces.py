"""How does a panel's text look? Small pieces of HTML, every word from a plan escaped, and the style they share.

- Colours come from JupyterLab's theme and fall back to the reader's own; the picture keeps its white ground in both.
- A message says its kind in words and by its role, not by colour alone.
"""

from __future__ import annotations

import base64
import html
import struct
from collections.abc import Iterable, Sequence

from costkit.panels.files import Written

STYLE = """<style>
.costkit-panel { max-width: 1400px; padding: 4px 0 8px; gap: 12px; overflow: visible;
  font-family: var(--jp-ui-font-family, sans-serif); color: var(--jp-content-font-color1, inherit) }
.costkit-panel .widget-html, .costkit-panel .widget-html-content { height: auto; margin: 0; line-height: 1.4;
  overflow: visible }
.costkit-panel .costkit-body { flex-flow: row wrap; gap: 16px 28px; align-items: flex-start; overflow: visible }
.costkit-panel .costkit-controls { flex: 1 1 296px; display: grid; gap: 12px 28px; overflow: visible;
  grid-template-columns: repeat(auto-fit, minmax(max(240px, 30%), 1fr)) }
.costkit-panel .costkit-answer { max-width: 100%; min-width: 0; gap: 8px; overflow: visible }
.costkit-panel .costkit-control { display: grid; grid-template-columns: minmax(0, 1fr) 92px; gap: 3px 12px;
  align-items: center; align-content: end; width: auto; margin: 0; overflow: visible }
.costkit-panel .costkit-control > .widget-text, .costkit-panel .costkit-control > .widget-dropdown,
.costkit-panel .costkit-control > .widget-combobox { display: contents }
.costkit-panel .costkit-control .widget-label { grid-area: 1 / 1 / 2 / 3; width: auto; max-width: none; height: auto;
  margin: 0; padding: 0; text-align: left; white-space: normal; line-height: 1.3; overflow: visible; font-size: 13px;
  color: var(--jp-content-font-color1, inherit) }
.costkit-panel .costkit-control .widget-slider { grid-area: 2 / 1 / 3 / 2; width: auto; min-width: 0; margin: 0 8px;
  overflow: visible }
.costkit-panel .costkit-control .widget-slider .slider-container { flex: 1 1 auto; margin: 0; overflow: visible }
.costkit-panel .costkit-control .noUi-handle:focus-visible { outline: 2px solid var(--jp-brand-color1, #0072b2);
  outline-offset: 2px }
.costkit-panel .costkit-control input { grid-area: 2 / 2 / 3 / 3; width: 100%; min-width: 0; margin: 0;
  text-align: right; font-variant-numeric: tabular-nums }
.costkit-panel .costkit-control.costkit-wide input, .costkit-panel .costkit-control select {
  grid-area: 2 / 1 / 3 / 3; width: 100%; margin: 0; text-align: left }
.costkit-panel .costkit-control.costkit-refused input, .costkit-panel .costkit-control.costkit-refused select {
  border: 2px solid var(--jp-error-color1, #c62828) }
.costkit-panel .costkit-headline { min-height: 2.7em; margin: 0; font-size: 18px; line-height: 1.35; font-weight: 600;
  text-wrap: pretty; overflow-wrap: anywhere }
.costkit-panel dl.costkit-facts { display: flex; flex-wrap: wrap; gap: 2px 24px; margin: 6px 0 0; font-size: 13px }
.costkit-panel .costkit-facts dt, .costkit-panel .costkit-facts dd { float: none; display: inline; width: auto;
  margin: 0; padding: 0 }
.costkit-panel .costkit-facts dt { font-weight: 400; color: var(--jp-content-font-color2, inherit) }
.costkit-panel .costkit-facts dd { font-weight: 600; font-variant-numeric: tabular-nums }
.costkit-panel .costkit-picture { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 3px }
.costkit-panel ul.costkit-notes { margin: 0; padding-left: 18px; max-width: 720px; font-size: 13px }
.costkit-panel .costkit-old .costkit-picture, .costkit-panel .costkit-old .costkit-facts,
.costkit-panel .costkit-old .costkit-headline, .costkit-panel .costkit-old .costkit-notes { opacity: .45 }
.costkit-panel .costkit-alert, .costkit-panel .costkit-notice { margin: 0; padding: 4px 12px; overflow-wrap: anywhere;
  border-left: 4px solid }
.costkit-panel .costkit-alert { font-weight: 600; color: var(--jp-error-color1, #c62828) }
.costkit-panel .costkit-notice { border-color: var(--jp-success-color1, #2e7d32) }
.costkit-panel .costkit-notice a { margin-left: 6px; text-decoration: underline;
  color: var(--jp-content-link-color, #0072b2) }
.costkit-panel .costkit-row { flex-flow: row wrap; gap: 6px 8px; align-items: center; overflow: visible }
.costkit-panel .costkit-row > * { flex: 0 0 auto; margin: 0 }
.costkit-panel .costkit-row .widget-label { width: auto; max-width: none; margin: 0 8px 0 0; padding: 0 }
.costkit-panel .costkit-row .widget-text { width: 216px; margin-left: 8px }
.costkit-panel .costkit-row .widget-button { width: auto; padding: 0 12px }
.costkit-panel .costkit-row .widget-checkbox, .costkit-panel .costkit-row .widget-checkbox label { width: auto }
.costkit-panel .costkit-row .widget-checkbox label { display: flex; align-items: center; gap: 6px }
.costkit-panel .costkit-row .widget-checkbox input { margin: 0 }
.costkit-panel .costkit-token { width: auto; margin: 0 }
.costkit-panel .costkit-token .widget-label { width: auto; margin: 0 8px 0 0 }
.costkit-panel .costkit-token input { font-family: var(--jp-code-font-family, monospace); font-size: 12px }
</style>"""


def answer(headline: str, facts: Sequence[tuple[str, str]]) -> str:
    """The sentence with the number in it, and the key numbers under it.

    >>> answer("<3 days>", [])
    '<p class="costkit-headline" role="status">&lt;3 days&gt;</p>'
    """
    numbers = "".join(f"<div><dt>{_text(name)}</dt> <dd>{_text(value)}</dd></div>" for name, value in facts)
    listed = f'<dl class="costkit-facts">{numbers}</dl>' if numbers else ""
    return f'<p class="costkit-headline" role="status">{_text(headline)}</p>{listed}'


def picture(png: bytes, alt: str) -> str:
    """The PNG as an image of its own size, with the words for who cannot see it."""
    width, height = png_size(png)
    source = data_link("image/png", png)
    return f'<img class="costkit-picture" alt="{_text(alt)}" width="{width}" height="{height}" src="{source}">'


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG, in pixels, as its header says."""
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def alert(sentence: str) -> str:
    """What is wrong, said at once by a screen reader; nothing where nothing is wrong.

    >>> alert("no <b>"), alert("")
    ('<p class="costkit-alert" role="alert">no &lt;b&gt;</p>', '')
    """
    return f'<p class="costkit-alert" role="alert">{_text(sentence)}</p>' if sentence else ""


def notice(sentence: str, written: Iterable[Written] = ()) -> str:
    """What was done, with links to the same content for a reader who cannot reach the kernel's disk.

    >>> notice("Done & saved.")
    '<p class="costkit-notice" role="status">Done &amp; saved.</p>'
    """
    links = "".join(
        f' <a download="{_text(file.path.name)}" href="{data_link(file.kind, file.content)}">'
        f"Download {_text(file.path.name)}</a>"
        for file in written
    )
    return f'<p class="costkit-notice" role="status">{_text(sentence)}{links}</p>'


def notes(sentences: Sequence[str]) -> str:
    """What to know before using the answer, under the picture.

    >>> notes(["Past <16> epochs."]), notes([])
    ('<ul class="costkit-notes"><li>Past &lt;16&gt; epochs.</li></ul>', '')
    """
    listed = "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences)
    return f'<ul class="costkit-notes">{listed}</ul>' if listed else ""


def data_link(kind: str, content: bytes) -> str:
    """The content as an address that needs no server.

    >>> data_link("text/csv", b"a")
    'data:text/csv;base64,YQ=='
    """
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _text(words: str) -> str:
    return html.escape(" ".join(str(words).split()))
