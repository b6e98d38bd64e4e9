"""Hand-written NumPy of the six training steps, to measure others by.

Each step does what its program does and nothing that it does not: buffers and views are made once,
results go to ``out=``, parameters of one optimizer lie in one array, and what is never asked for
(separate probabilities, gradients of what is fed) is not computed.
"""
