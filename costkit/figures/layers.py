"""How does a picture follow a slider? A figure of two layers: what stands still, drawn once, and what moves.

- The moving artists are always drawn last, over the rest, whether the still layer was drawn or restored: a fresh figure
  and one that is used again give the same bytes.
- A picture function that is given a figure of its own with the same `key` takes it up again and redraws what moves.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

SomeArtist = TypeVar("SomeArtist", bound=Artist)


class Layered(Figure):
    """A figure whose `moving` artists are drawn over a still layer that is kept between draws."""

    def __init__(self, size: tuple[float, float], key: Hashable) -> None:
        super().__init__(size, facecolor="white")
        self.key = key
        self.moving: list[Artist] = []
        self._still: object = None

    def move(self, artist: SomeArtist) -> SomeArtist:
        """Mark an artist as one that moves, and return it."""
        artist.set_animated(True)
        self.moving.append(artist)
        return artist

    def clear_moving(self) -> None:
        """Take off all that moves, to draw it anew."""
        for artist in self.moving:
            artist.remove()
        self.moving.clear()

    @contextmanager
    def as_one(self) -> Iterator[None]:
        """Let what moves be drawn like the rest, for a file that knows no layers."""
        for artist in self.moving:
            artist.set_animated(False)
        try:
            yield
        finally:
            for artist in self.moving:
                artist.set_animated(True)

    def draw_layers(self, canvas: FigureCanvasAgg) -> None:
        """Draw the still layer, or put back the one drawn before, and what moves over it."""
        if self._still is None:
            canvas.draw()  # type: ignore[no-untyped-call]
            self._still = canvas.copy_from_bbox(self.bbox)  # type: ignore[no-untyped-call]
        else:
            canvas.restore_region(self._still)  # type: ignore[no-untyped-call]
        renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
        for artist in sorted(self.moving, key=Artist.get_zorder):
            artist.draw(renderer)
