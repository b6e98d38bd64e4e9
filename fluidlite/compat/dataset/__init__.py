"""``paddle.dataset``: readers of classic data sets over files on this machine, in the places and
the formats of 1.8; nothing is downloaded.
"""
