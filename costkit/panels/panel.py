"""What stands on the screen? One plan, up to six controls, the answer in words, and the picture of it.

- `panel.plan` is always a plan that was drawn: a setting that cannot be used leaves it, and the picture, as they were.
- One change is one call of the view. Whatever a view or a file raises becomes a sentence; what is our own fault is
  also kept in `panel.fault`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ipywidgets as widgets

from costkit import figures, troubles, writing
from costkit import plan as plans
from costkit.panels import boxes, files, pieces
from costkit.panels.changes import changed, named, preset_name, source_of
from costkit.panels.controls import Control, in_labels
from costkit.panels.made import Group, controls, groups
from costkit.panels.turns import in_turn
from costkit.panels.view import View, ViewFunction
from costkit.plan import Plan

CURRENT = "current"


class Panel(widgets.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """Controls for `keys` of the plan, and the view of it: the last line of a notebook cell.

    `keys` are keys of the plan, or groups of keys that stand together as one control. `name` names the files that the
    panel exports. Keys that no plan has, or more than six controls, raise `ValueError`.
    """

    def __init__(
        self, plan: Plan | str | Path, view: ViewFunction, keys: Sequence[str | Group], *, name: str = "panel"
    ) -> None:
        super().__init__()
        self._view, self._name, self._naming = view, name, False
        self.plan = self._base = self._opened = plans.read(plan)
        self._base_name = self._opened_name = preset_name(self.plan)
        self._source = source_of(self.plan)
        self.shown: View | None = None
        self.fault: Exception | None = None
        self.message, self.redraw_s, self._png = "", 0.0, b""
        self._saved: set[Path] = set()
        self._groups = groups(keys)
        self.controls: Mapping[str, Control] = MappingProxyType(controls(self.plan, self._groups, self._changed))
        self._build()
        self._start(self._opened, self._opened_name)

    @property
    def headline(self) -> str:
        """The sentence above the picture."""
        return self.shown.headline if self.shown else ""

    @property
    def token(self) -> str:
        """The plan as one line of text."""
        return self.plan.token()

    @in_turn
    def set(self, key: str, value: object) -> None:
        """Change one value of the plan, by its control where it has one."""
        if key in self.controls:
            self.controls[key].value = value
        else:
            self._apply({**self._pending(), key: value})

    @in_turn
    def reset(self) -> None:
        """Go back to the plan that the panel was opened with."""
        self._start(self._opened, self._opened_name)

    @in_turn
    def choose(self, name: str) -> None:
        """Start again from one of the plans that come with costkit."""
        if name != CURRENT:
            with self._told(self._refused):
                self._start(plans.read(name), name)
        self._name_preset()

    @in_turn
    def save(self, path: str | Path | None = None, *, replace: bool | None = None) -> Path | None:
        """Write the plan as TOML, by default under the name in the box, over an existing file only with `replace`.

        Where its numbers differ from those of the plan it came from, the file's name and title say so.
        """
        with self._told(self._failed):
            target = files.plan_path(self.name_box.value if path is None else path)
            if not self._may_replace(replace) and writing.resolved(target) not in self._saved:
                files.keep_existing(target)
            titled = named(self.plan, self._source, target.stem)
            saved = writing.resolved(titled.save(target))
            self._saved.add(saved)
            title = "" if titled is self.plan else f", titled '{titled.title}'"
            self._wrote(f"Saved the plan as {saved}{title}", [files.Written(saved, saved.read_bytes())])
            return saved
        return None

    @in_turn
    def show_token(self) -> None:
        """Show the plan's token in a box to copy it from; it follows the plan from then on."""
        with self._told(self._failed):
            boxes.put(self.token_box, self.token)
            self.token_box.focus()

    @in_turn
    def export_csv(self, path: str | Path | None = None, *, replace: bool | None = None) -> Path | None:
        """Write the rows behind the picture, by default beside the notebook under the next free name."""
        return self._export(path, [".csv"], replace)

    @in_turn
    def export_figure(self, path: str | Path | None = None, *, replace: bool | None = None) -> Path | None:
        """Write the picture, by default as PNG and for print as SVG beside it; the ending of a given path decides."""
        return self._export(path, [".png", ".svg"], replace)

    def __repr__(self) -> str:
        return f"Panel: {self.headline or self.message}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The widget, and for a page without widgets its sentence in full."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": repr(self)}

    def _build(self) -> None:
        """Lay the parts out: plans first, controls left of the answer, or above it where it is wide, files below."""
        self.presets = widgets.Dropdown(description="Start from", options=[CURRENT])
        self.presets.observe(in_turn(self._chosen), "value")
        self.alert, self.words, self.picture, self.notice = (widgets.HTML() for _ in range(4))
        self.words.add_class("costkit-words")
        self.token_box = widgets.Text(description="Copy this", continuous_update=False)
        self.token_box.add_class("costkit-token")
        self.token_box.observe(in_turn(self._keep_token), "value")
        left = boxes.boxed(widgets.VBox, "controls", [self._grouped(group) for group in self._groups])
        self.answer = boxes.boxed(widgets.VBox, "answer", [self.alert, self.words, self.picture])
        style = widgets.HTML(pieces.STYLE, layout=widgets.Layout(display="none"))
        first, body = (
            boxes.boxed(widgets.HBox, "row", [self.presets]),
            boxes.boxed(widgets.HBox, "body", [left, self.answer]),
        )
        self.children = [style, first, body, self._file_row(), self.notice, self.token_box]
        self.add_class("costkit-panel")
        for part in (self.alert, self.notice, self.token_box):
            boxes.put(part, "")

    def _grouped(self, group: Group) -> Any:
        """One control, or several side by side."""
        if len(group) == 1:
            return self.controls[group[0]]
        return boxes.boxed(widgets.HBox, "group", [self.controls[key] for key in group])

    def _file_row(self) -> Any:
        """The row of buttons; each does what one public method does."""
        name = files.free(files.stem(self.plan.name.removesuffix("-changed"), "changed"), [".toml"])[0].stem
        self.name_box = widgets.Text(description="Save as", value=name, continuous_update=False)
        self.replace_box = widgets.Checkbox(description="Replace", indent=False, tooltip="Write over an existing file")
        methods: dict[str, Callable[[], object]] = {
            "Reset": self.reset,
            "Save plan": self.save,
            "Copy token": self.show_token,
            "Export CSV": self.export_csv,
            "Export figure": self.export_figure,
        }
        self.buttons = {label: boxes.button(label, method) for label, method in methods.items()}
        reset, *others = self.buttons.values()
        return boxes.boxed(widgets.HBox, "row", [reset, *others[1:], self.name_box, self.replace_box, others[0]])

    def _chosen(self, change: Mapping[str, Any]) -> None:
        if not self._naming:
            self.choose(change["new"])

    def _changed(self, moved: Control) -> None:
        """Draw what the controls now say."""
        if moved.problem:
            self._say(moved.problem)
        else:
            self._apply(self._pending())

    def _pending(self) -> dict[str, object]:
        """What the controls say and the plan does not; text that is no value says nothing."""
        usable = {key: shown.value for key, shown in self.controls.items() if not shown.problem}
        return {key: value for key, value in usable.items() if value != self.plan.value(key)}

    def _apply(self, changes: Mapping[str, object]) -> None:
        """Draw the plan with the changes, or mark the controls that asked for them."""
        with self._told(lambda sentence: self._refused(sentence, changes)), self._kept_whole():
            candidate = changed(self._base, self.plan, changes)
            if candidate != self.plan or self.shown is None:
                self._draw(candidate)
            self._agree()

    @in_turn
    def _start(self, base: Plan, name: str) -> None:
        """Draw another plan and show its values in every control."""
        with self._told(self._refused), self._kept_whole():
            self._draw(base)
            self._base, self._base_name, self._source = base, name, source_of(base)
            self._put_back()

    def _draw(self, candidate: Plan) -> None:
        """The one call of the view; nothing on the screen changes unless all of it succeeds."""
        started = time.perf_counter()
        shown = self._view(candidate)
        png = figures.png(shown.figure)
        words = pieces.answer(shown.headline, shown.facts, shown.notes, shown.places)
        picture = pieces.picture(png, str(shown.figure.get_label()))
        self.plan, self.shown, self._png, self.fault = candidate, shown, png, None
        self.words.value, self.picture.value = words, picture
        self.answer.layout.flex = f"999 1 {pieces.png_size(png)[0]}px"
        self.redraw_s = time.perf_counter() - started

    @contextmanager
    def _kept_whole(self) -> Iterator[None]:
        """Where the reader interrupts the kernel, let the controls say again what the picture says."""
        try:
            yield
        except KeyboardInterrupt:
            self._put_back()
            raise

    def _put_back(self) -> None:
        """Show the plan's values in every control."""
        for key, shown in self.controls.items():
            shown.put(self.plan.value(key))
        self._agree()

    def _agree(self) -> None:
        """Let everything around the picture say what the plan says; text that is no value stays, and is named."""
        for key, shown in self.controls.items():
            if not shown.problem:
                shown.accept()
                if shown.value != self.plan.value(key):
                    shown.put(self.plan.value(key))
        self._name_preset()
        self._say(next((shown.problem for shown in self.controls.values() if shown.problem), ""))
        if self.token_box.value:
            self.token_box.value = self.token

    def _keep_token(self, change: Mapping[str, Any]) -> None:
        """Undo what is typed over the token; a disabled box could not be reached from the keyboard."""
        if change["new"] != self.token:
            self.token_box.value = self.token

    def _refused(self, sentence: str, changes: Mapping[str, object] = MappingProxyType({})) -> None:
        """Say what is wrong and mark the controls that it came from."""
        for key in changes:
            if key in self.controls:
                self.controls[key].refuse()
        self._say(in_labels(sentence, {key: shown.field for key, shown in self.controls.items()}))

    def _say(self, sentence: str) -> None:
        """Show the sentence, and the answer greyed as that of an earlier setting; or neither."""
        self.message = sentence
        boxes.put(self.alert, pieces.alert(sentence))
        for part in (self.words, self.picture):
            (part.add_class if sentence else part.remove_class)("costkit-old")

    def _failed(self, sentence: str) -> None:
        boxes.put(self.notice, pieces.alert(sentence))

    def _wrote(self, sentence: str, written: Sequence[files.Written]) -> None:
        """Name the files; where a setting is refused, say that it is not in them."""
        but = ", without the setting that could not be used" if self.message else ""
        boxes.put(self.notice, pieces.notice(f"{sentence}{but}.", written))

    @contextmanager
    def _told(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Turn whatever is raised into a sentence for the reader."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # a widget's callback has no caller: what is raised there, nobody sees
            if not troubles.is_answer(error):
                self.fault = error
            tell(troubles.sentence(error))

    def _name_preset(self) -> None:
        """Show which of the plans that come with costkit this is, if it is one."""
        name = self._base_name if self.plan is self._base and self._base_name else CURRENT
        options = (*plans.names(), *((CURRENT,) if name == CURRENT else ()))
        self._naming = True
        try:
            if options != self.presets.options:
                self.presets.options = options
            self.presets.value = name
        finally:
            self._naming = False

    def _may_replace(self, replace: bool | None) -> bool:
        return bool(self.replace_box.value) if replace is None else replace

    def _export(self, path: str | Path | None, kinds: Sequence[str], replace: bool | None) -> Path | None:
        with self._told(self._failed):
            if self.shown is None:
                raise ValueError("there is nothing to export: the plan has not been drawn yet")
            changed_too = "changed" if plans.changes(self._source, self.plan) else ""
            default = files.stem(self.plan.name, changed_too, self._name)
            targets = files.export_paths(path, default, kinds, replace=self._may_replace(replace))
            written = [files.write(target, self._content(target.suffix.lower(), self.shown)) for target in targets]
            names = " and ".join(file.path.name for file in written)
            self._wrote(f"Wrote {names} in {written[0].path.parent}", written)
            return written[0].path
        return None

    def _content(self, kind: str, shown: View) -> bytes:
        """The file's content; a drawing that can be scaled is made anew, as a refused setting may have spoilt it."""
        if kind == ".png":
            return self._png
        if kind == ".svg":
            return figures.svg(self._view(self.plan).figure).encode()
        return figures.Table(shown.rows, self._name).csv().encode()
