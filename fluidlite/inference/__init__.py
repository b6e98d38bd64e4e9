"""Models that are served: one engine, which paddle 2's ``paddle.inference`` and fluid 1.8's
``fluid.core`` spell.
"""
