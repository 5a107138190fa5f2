"""How does a panel's text look? Small pieces of HTML, every word from a plan escaped, and the style they share.

- Colours come from JupyterLab's theme and fall back to the reader's own; the picture keeps its white ground in both.
- A message says its kind in words and by its role, not by colour alone.
"""

from __future__ import annotations

import base64
import html
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from costkit.panels.files import Written

_NONE = "–"
STYLE = """<style>
.costkit-panel { max-width: 1400px; padding: 4px 0 8px; gap: 10px; overflow: visible;
  font-family: var(--jp-ui-font-family, sans-serif); color: var(--jp-content-font-color1, inherit) }
.costkit-panel .widget-html, .costkit-panel .widget-html-content { height: auto; margin: 0; line-height: 1.4;
  overflow: visible }
.costkit-panel .costkit-body { flex-flow: row wrap; gap: 16px 28px; align-items: flex-start; overflow: visible }
.costkit-panel .costkit-controls { flex: 1 1 296px; display: grid; gap: 10px 28px; overflow: visible;
  grid-template-columns: repeat(auto-fit, minmax(max(240px, 30%), 1fr)) }
.costkit-panel .costkit-answer { max-width: 100%; min-width: 0; gap: 8px; overflow: visible }
.costkit-panel .costkit-control { display: grid; grid-template-columns: minmax(0, 1fr) 92px; gap: 3px 12px;
  align-items: center; align-content: end; width: auto; margin: 0; overflow: visible }
.costkit-panel .costkit-group { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 3px 12px;
  align-items: end; width: auto; margin: 0; overflow: visible }
.costkit-panel .costkit-control > .widget-text, .costkit-panel .costkit-control > .widget-dropdown,
.costkit-panel .costkit-control > .widget-combobox { display: contents }
.costkit-panel .costkit-control .widget-label { grid-area: 1 / 1 / 2 / 3; width: auto; max-width: none; height: auto;
  margin: 0; padding: 0; text-align: left; white-space: normal; line-height: 1.3; overflow: visible; font-size: 12px;
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
.costkit-panel .costkit-controls > .costkit-order { grid-column: 1 / -1; gap: 6px 0;
  grid-template-columns: minmax(0, 1fr) }
.costkit-panel .costkit-order > .widget-text input { grid-area: 2 / 1 / 3 / 2; text-align: left }
.costkit-panel .costkit-order > .jupyter-widget-tagsinput { grid-area: 3 / 1 / 4 / 2; display: flex;
  flex-flow: row wrap; gap: 4px; width: auto; height: auto; margin: 0; cursor: default }
.costkit-panel .costkit-order .jupyter-widget-tag { margin: 0; height: auto; line-height: 1.6; white-space: nowrap;
  cursor: grab; border: 1px solid var(--jp-border-color1, #bbb) }
.costkit-panel .costkit-order .jupyter-widget-tagsinput > .widget-text { display: none !important }
.costkit-panel .costkit-ticks { grid-area: 4 / 1 / 5 / 2; display: grid; gap: 2px 14px; overflow: visible;
  grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)) }
.costkit-panel .costkit-ticks .widget-checkbox { width: auto; height: auto; margin: 0; overflow: visible }
.costkit-panel .costkit-ticks .widget-checkbox label { display: flex; align-items: center; gap: 6px; width: auto;
  font-size: 12px; line-height: 1.5; white-space: normal }
.costkit-panel .costkit-control .costkit-ticks input { width: auto; margin: 0 }
.costkit-panel .costkit-words { container-type: inline-size; width: 100%; margin: 0 }
.costkit-panel .costkit-words .widget-html-content { width: 100% }
.costkit-panel .costkit-said { min-height: 92px; box-sizing: border-box; padding: 1px 0 1px 12px;
  border-left: 4px solid var(--jp-brand-color1, #0072b2) }
.costkit-panel .costkit-headline { margin: 0; font-size: 17px; line-height: 1.35; font-weight: 600; text-wrap: pretty;
  overflow-wrap: anywhere }
.costkit-panel ul.costkit-notes { list-style: none; margin: 4px 0 0; padding: 0; font-size: 13px; line-height: 1.35 }
.costkit-panel .costkit-notes li { margin: 0; padding: 0 }
.costkit-panel .costkit-notes b { padding: 0 5px; border: 1px solid; border-radius: 3px }
.costkit-panel dl.costkit-facts { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 4px 18px;
  margin: 8px 0 0; font-size: 13px; line-height: 1.3 }
.costkit-panel .costkit-facts dt, .costkit-panel .costkit-facts dd { float: none; display: block; width: auto;
  margin: 0; padding: 0 }
.costkit-panel .costkit-facts dt { font-weight: 400; font-size: 12px; color: var(--jp-content-font-color2, inherit) }
.costkit-panel .costkit-facts dd { min-height: 2.6em; font-weight: 600; font-variant-numeric: tabular-nums }
.costkit-panel .costkit-facts dd span { display: block; font-weight: 400 }
.costkit-panel .costkit-span-2 { grid-column: span 2 }
.costkit-panel .costkit-span-3 { grid-column: span 3 }
@container (max-width: 820px) {
  .costkit-panel .costkit-said { min-height: 142px }
  .costkit-panel dl.costkit-facts { grid-template-columns: repeat(3, minmax(0, 1fr)) }
}
@container (max-width: 480px) {
  .costkit-panel .costkit-said { min-height: 0 }
  .costkit-panel dl.costkit-facts { grid-template-columns: minmax(0, 1fr) }
  .costkit-panel .costkit-facts > div { grid-column: auto }
  .costkit-panel .costkit-facts dd { min-height: 0 }
}
.costkit-panel .costkit-picture { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 3px }
.costkit-panel .costkit-old .costkit-picture, .costkit-panel .costkit-old .costkit-facts,
.costkit-panel .costkit-old .costkit-said { opacity: .45 }
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
.costkit-panel .costkit-tally .costkit-said { min-height: 0 }
.costkit-panel .costkit-ledger { max-height: 560px; overflow: auto }
.costkit-panel .costkit-ledger table { border-collapse: collapse; font-size: 12px; line-height: 1.35 }
.costkit-panel .costkit-ledger th, .costkit-panel .costkit-ledger td { padding: 3px 8px; vertical-align: top;
  border-bottom: 1px solid var(--jp-border-color2, #ddd) }
.costkit-panel .costkit-ledger thead th { position: sticky; top: 0; background: var(--jp-layout-color1, #fff) }
.costkit-panel .costkit-ledger caption { display: none }
.costkit-panel .costkit-token { width: auto; margin: 0 }
.costkit-panel .costkit-token .widget-label { width: auto; margin: 0 8px 0 0 }
.costkit-panel .costkit-token input { font-family: var(--jp-code-font-family, monospace); font-size: 12px }
</style>"""


def answer(
    headline: str,
    facts: Sequence[tuple[str, str]],
    notes: Sequence[str] = (),
    places: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """The sentence with the number in it, what to know before using it, and the key numbers under both.

    >>> answer("<3 days>", [])
    '<div class="costkit-said" role="status"><p class="costkit-headline">&lt;3 days&gt;</p></div>'
    >>> answer("", [("Loss", "2 (80%: 1 to 3)")])[-90:]
    '<div class="costkit-span-1"><dt>Loss</dt> <dd>2 <span>(80%: 1 to 3)</span></dd></div></dl>'
    """
    listed = "".join(f"<li><b>Note:</b> {_text(sentence)}</li>" for sentence in notes)
    noted = f'<ul class="costkit-notes">{listed}</ul>' if listed else ""
    said = f'<div class="costkit-said" role="status"><p class="costkit-headline">{_text(headline)}</p>{noted}</div>'
    cells = "".join(_fact(label, text, places.get(label, 1)) for label, text in _placed(facts, places))
    return f'{said}<dl class="costkit-facts">{cells}</dl>' if cells else said


def _placed(facts: Sequence[tuple[str, str]], places: Mapping[str, int]) -> list[tuple[str, str]]:
    """The facts in the order of their places, a dash where one is empty; then those without a place."""
    told = dict(facts)
    return [
        *((label, told.get(label, _NONE)) for label in places),
        *(fact for fact in facts if fact[0] not in places),
    ]


def _fact(label: str, text: str, columns: int) -> str:
    """A key number under its label, with the range in brackets set back."""
    value = re.sub(r" (\([^()]*\))$", r" <span>\1</span>", _text(text))
    return f'<div class="costkit-span-{columns}"><dt>{_text(label)}</dt> <dd>{value}</dd></div>'


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


def data_link(kind: str, content: bytes) -> str:
    """The content as an address that needs no server.

    >>> data_link("text/csv", b"a")
    'data:text/csv;base64,YQ=='
    """
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _text(words: str) -> str:
    return html.escape(" ".join(str(words).split()))
