"""The site that `./dev docs` makes: make.sh beside this file lays out what it is made of, and sets the environment."""

import os
import re
from pathlib import Path

source = Path(os.environ["SLABCAST_DOCS_SOURCE"])  # what looks like the repository, drawings included
header = (source / "host/include/slabcast.h").read_text()

project = "Slabcast"
author = "the authors of Slabcast"
copyright = author  # no year, so that equal sources make equal pages
version = release = ".".join(re.findall(r"^#define SLAB_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M))

extensions = [
    "breathe",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "python/README.md",
    "tests/PROOF.md",
    "tests/mutants/RESULTS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = ["docs/site"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

breathe_projects = {"slabcast": os.environ["SLABCAST_DOCS_XML"]}
breathe_default_project = "slabcast"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"Array": "Array"}
python_use_unqualified_type_names = True
maximum_signature_line_length = 80

html_theme = "furo"
html_title = f"Slabcast {version}"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e75", "color-brand-content": "#0b6e75"},
    "dark_css_variables": {"color-brand-primary": "#5fc3c9", "color-brand-content": "#5fc3c9"},
}
