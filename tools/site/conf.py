# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sphinx's settings for tools/site/build.

project = "vhca"
copyright = "The authors of the vhca RDMA stack"     # pylint: disable=redefined-builtin
root_doc = "index"
exclude_patterns = ["man"]
highlight_language = "none"
smartquotes = False         # options begin with two hyphens
html_theme = "alabaster"
html_theme_options = {"description": "An RDMA stack for Linux, its adapter and its fabric", "fixed_sidebar": True,
                      "page_width": "72rem", "sidebar_width": "16rem"}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_show_copyright = False
html_copy_source = False

# words of the kernel's C that are neither type nor name
c_id_attributes = ["__user", "__iomem", "__rcu", "__percpu", "__force", "__must_check", "__printf", "__bitwise"]
c_paren_attributes = ["__printf"]
