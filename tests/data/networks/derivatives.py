"""Networks that are trained by derivatives of derivatives, in torch."""
