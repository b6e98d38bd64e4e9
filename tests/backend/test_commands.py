"""Command buffers by themselves."""

from fluidlite.backend.commands import CommandBuffer, NativeCommand


def test_what_a_command_refers_to_is_made_when_it_is_recorded():
    made = []
    command = NativeCommand(1, lambda: made.append(1) or 5, (), False)
    buffer = CommandBuffer()
    assert not made
    buffer.record([command], (), (0, 0), 0)
    assert made == [1] and buffer.is_recorded
