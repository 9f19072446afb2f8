import pytest

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
