"""Formats of classic data sets: what their files hold, as samples."""
