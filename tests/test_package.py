import importlib
from types import ModuleType

import pytest

import costkit


@pytest.mark.parametrize("name", costkit.__all__)
def test_every_module_that_is_named_imports(name: str) -> None:
    """What `costkit.__all__` promises is there, as an attribute and by its dotted name."""
    assert getattr(costkit, name) is importlib.import_module(f"costkit.{name}")


@pytest.mark.parametrize("name", costkit.__all__)
def test_every_name_of_a_module_is_there(name: str) -> None:
    """What a module's own `__all__` promises can be had from it."""
    module = getattr(costkit, name)
    assert [member for member in getattr(module, "__all__", ()) if not hasattr(module, member)] == []


def test_claims_are_a_part_of_the_package() -> None:
    """The checks of published figures are named among the modules."""
    assert "claims" in costkit.__all__


def test_the_names_are_sorted() -> None:
    """A reader finds a module by its first letter."""
    assert list(costkit.__all__) == sorted(costkit.__all__)


def test_an_unknown_module_is_refused_with_those_there_are() -> None:
    """The sentence lists them."""
    with pytest.raises(AttributeError, match=r"no attribute 'fancy'; it has architectures, claims"):
        costkit.fancy  # noqa: B018 - naming it is what is tested


def test_dir_names_the_modules() -> None:
    """Completion in a notebook offers every module before it has loaded."""
    assert dir(costkit) == sorted(costkit.__all__)
    assert all(isinstance(getattr(costkit, name), ModuleType) for name in dir(costkit))
