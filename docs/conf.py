"""Configuration of the documentation; builds without a network."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "fedtheory"
author = "The fedtheory developers"
project_copyright = "%Y, " + author
version = release = installed_version("fedtheory")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "findings",
    "gallery_groups",
    "house",
    "notebooks",
    "pictures",
    "reference",
    "thumbnails",
]
# Foreign inventories are fetched where there surely is a network; elsewhere foreign names are set as code.
if os.environ.get("READTHEDOCS") == "True":
    extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "matplotlib": ("https://matplotlib.org/stable", None),
    "xarray": ("https://docs.xarray.dev/en/stable", None),
}

# One file without fonts, copied from an installed package: formulas are drawn where there is no network.
mathjax_path = "mathjax.js"
mathjax3_config = {
    "options": {"enableMenu": False},  # the menu would fetch files that are not there
    "tex": {"packages": {"[-]": ["noundefined"]}},  # an unknown command is an error, not its name in red
}

default_role = "py:obj"
exclude_patterns = ["_build", "paper.md", "theory/generated", "api/tables", "**/GALLERY_HEADER.rst"]
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False  # api_pages writes the pages
autodoc_default_options = {"member-order": "bysource"}
autodoc_typehints = "none"
add_module_names = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "fedtheory"
html_static_path = ["_static"]
html_css_files = ["fedtheory.css"]
html_js_files = ["claims.js"]
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))
html_show_sourcelink = False
# These pages have the whole width for wide tables, thumbnails and output.
_WIDE = ("index", "gallery/*", "lessons", "reproduction", "theory/claims", "theory/which_bound")
html_sidebars = {page: [] for page in _WIDE}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "collapse_navigation": True,
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

sphinx_gallery_conf = {
    "examples_dirs": "../studies",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\w+\.py$",
    "ignore_pattern": r"^_",
    "reset_argv": "house.stored_or_quick",
    "within_subsection_order": "gallery_groups.ByQuestion",
    "download_all_examples": False,
    "thumbnail_size": (640, 440),
    "image_scrapers": ("thumbnails.scraper",),
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,  # that page asks other hosts for its table
    "remove_config_comments": True,
    "abort_on_example_error": False,
    "parallel": True,  # as many as `sphinx-build -j` has
}
