"""What may stand on a page? Text, tables, formulas and embedded pictures: nothing that runs, loads or leads away.

- Elements and attributes are allowed by name. Whatever else is met stands on the page as the text it is, so a plan
  whose title is markup shows that markup.
- A link keeps its words. One to a paper adds its arXiv or DOI number; only a link within the page stays a link.
"""

from __future__ import annotations

import base64
import html
import mimetypes
import re
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEXT = _words("""
    a abbr b blockquote br caption cite code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5
    h6 hr i img kbd li ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var wbr
""")
_MATH = _words("""
    math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub
    msubsup msup mtable mtd mtext mtr munder munderover none
""")
_ATTRIBUTES = {
    "a": {"href"},
    "col": {"span"},
    "details": {"open"},
    "p": {"class"},
    "ul": {"class"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "style"},
    "th": {"colspan", "rowspan", "style", "scope"},
}
_MATH_ATTRIBUTES = _words("""
    accent accentunder align alttext columnalign columnlines columnspacing depth display displaystyle fence form height
    linebreak linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace
    scriptlevel separator stretchy symmetric voffset width
""")
_ALIGNMENT = re.compile(r"\s*text-align:\s*(left|center|right);?\s*(font-weight:\s*normal)?")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+")
_PAPER = re.compile(
    r"https?://(?:www\.)?(?:(arxiv)\.org/(?:abs|pdf)|(?:dx\.)?(doi)\.org)/(.+?)(?:\.pdf)?/?$", re.IGNORECASE
)
_CLASSES = {"p": "said", "ul": "notes"}
_DROPPED = ("style", "noscript", "template")


def clean(markup: str, *, folder: Path | None = None) -> BeautifulSoup:
    """The markup with only what a page may hold; pictures that lie in `folder` are embedded.

    >>> clean("<b onclick='go()'>5</b> <script>go()</script>").decode()
    '<b>5</b> &lt;script&gt;go()&lt;/script&gt;'
    >>> clean('<a href="https://arxiv.org/abs/2203.15556">Hoffmann 2022</a>').decode()
    'Hoffmann 2022 (arXiv:2203.15556)'
    """
    # The empty comment tells the parser that this is markup, however short, and no address or file name.
    soup = BeautifulSoup(f"<!---->{markup}", "html.parser")
    for node in soup.find_all(string=True):
        if isinstance(node, PreformattedString):
            node.extract()
    for tag in soup.find_all(list(_DROPPED)):
        tag.decompose()
    for tag in soup.find_all(True):
        _judge(tag, folder)
    return soup


def _judge(tag: Tag, folder: Path | None) -> None:
    """Keep an element with its allowed attributes, or leave its words."""
    if tag.name == "img":
        tag["src"] = _embedded(str(tag.get("src", "")), folder)
    if tag.name not in _TEXT | _MATH or (tag.name == "img" and not tag["src"]):
        tag.replace_with(NavigableString(_as_text(tag)))
        return
    if tag.name == "a" and not str(tag.get("href", "")).startswith("#"):
        _say_source(tag)
        return
    known = _CLASSES.get(tag.name, "")
    if known and known in tag.get_attribute_list("class"):
        tag["class"] = known
    allowed = _MATH_ATTRIBUTES if tag.name in _MATH else _ATTRIBUTES.get(tag.name, set()) | {"id", "lang", "title"}
    tag.attrs = {name: value for name, value in tag.attrs.items() if name in allowed and _harmless(name, value)}
    if tag.name == "img":
        tag["alt"] = str(tag.get("alt", "")).strip() or "A picture without a description."


def _as_text(tag: Tag) -> str:
    if tag.get("src") == "":
        del tag["src"]
    return html.unescape(tag.decode())


def _harmless(name: str, value: object) -> bool:
    """Of styles only alignment, of classes only those of a computed sentence and its notes."""
    if name == "style":
        return _ALIGNMENT.fullmatch(str(value)) is not None
    return name != "class" or value in _CLASSES.values()


def _say_source(link: Tag) -> None:
    """Replace a link that leads away by its words and where it led, as one would print it."""
    address, words = str(link.get("href", "")), link.get_text()
    paper = _PAPER.match(address)
    if paper:
        where = f"{'arXiv' if paper[1] else 'doi'}:{paper[3]}"
    else:
        where = re.sub(r"^https?://(www\.)?|/$", "", address) if address.startswith("http") else ""
    if where and where.rpartition(":")[2] not in words:
        link.append(f" ({where})")
    link.unwrap()


def _embedded(source: str, folder: Path | None) -> str:
    """The picture as a data address: as given, or read from a file in the folder; empty where there is none."""
    if _PICTURE.fullmatch(source):
        return source
    kind, _ = mimetypes.guess_type(source)
    if folder is None or not (kind or "").startswith("image/"):
        return ""
    try:
        file = (folder / source).resolve()
        content = file.read_bytes() if file.is_relative_to(folder.resolve()) else b""
    except (OSError, ValueError):
        return ""
    return data_address(kind or "", content) if content else ""


def data_address(kind: str, content: bytes) -> str:
    """The content as an address that loads nothing."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
