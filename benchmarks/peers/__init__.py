"""The training steps on other libraries; each module is imported only where its library is."""
