"""Readers: what brings data to training, ahead of it.

``buffer`` reads ahead in a thread, ``processes`` in others (``worker`` is what runs there,
``transfer`` how items come back).  ``batches`` makes those of a data set.  ``generator``
and ``loader`` are what programs use, ``feeder`` fills the readers that are part of a program.
``files`` reads files of samples.
"""
