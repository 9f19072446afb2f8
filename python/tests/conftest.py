import gc
import sys

import pytest

import cards
import shapes
import slabcast


@pytest.fixture
def scene():
    """A closed torus."""
    made = slabcast.Scene("cpu")
    made.add_mesh(*shapes.torus())
    return made


@pytest.fixture
def rays():
    return shapes.rays_around(shapes.torus()[0], 500, 1)


# ---- arrays on a card, on the stand-in for NVIDIA's driver ----


@pytest.fixture(scope="module")
def driver():
    made = cards.Driver(2)
    yield made
    gc.collect()
    made.end_events()
    made.close()


@pytest.fixture
def stream(driver):
    made = driver.stream()
    yield made
    driver.finish(made)
    driver.end_stream(made)


@pytest.fixture
def landed(driver):
    """Work that a test leaves in flight ends with it."""
    yield
    slabcast._card._end()
    driver.end_events()


@pytest.fixture(params=["torch", "cupy", "jax"])
def package(request, driver, monkeypatch):
    made = {
        "torch": cards.TorchLike,
        "cupy": cards.CuPyLike,
        "jax": lambda driver: cards.JaxLike(driver, driver.stream()),
    }[request.param](driver)
    monkeypatch.setitem(sys.modules, request.param, made)
    yield made
    slabcast._card._end()
    if request.param == "jax":
        driver.finish(made.own)
        driver.end_stream(made.own)
