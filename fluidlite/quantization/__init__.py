"""Programs of whole numbers of few bits, as the passes of fluid 1.8 and paddle 2.6 make them.

``graphs`` and ``graph_views`` have the graphs that these passes change, ``editions`` what versions
differ in, ``rounding`` and ``linear`` the changes of programs, ``passes`` their classes.
"""
