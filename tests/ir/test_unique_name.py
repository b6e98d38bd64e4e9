"""Names that nothing else has."""

import threading

from fluidlite import unique_name


def test_names_are_counted_by_their_stem():
    made = [unique_name.generate(stem) for stem in ("fc", "fc", "tmp", "fc")]
    assert made == ["fc_0", "fc_1", "tmp_0", "fc_2"]


def test_a_guard_counts_anew_and_gives_back():
    unique_name.generate("fc")
    with unique_name.guard():
        assert unique_name.generate("fc") == "fc_0"
        with unique_name.guard("A/"):
            assert unique_name.generate("fc") == "A/fc_0"
        assert unique_name.generate("fc") == "fc_1"
    assert unique_name.generate("fc") == "fc_1"


def test_a_guard_takes_a_prefix_in_bytes_or_a_generator():
    with unique_name.guard(b"B_"):
        assert unique_name.generate("fc") == "B_fc_0"
    with unique_name.guard() as generator:
        unique_name.generate("fc")
    with unique_name.guard(generator):
        assert unique_name.generate("fc") == "fc_1"


def test_a_switch_lasts_until_the_next_one():
    unique_name.generate("fc")
    generator, checker = unique_name.switch()
    assert unique_name.generate("fc") == "fc_0"
    unique_name.switch(generator, checker)
    assert unique_name.generate("fc") == "fc_1"


def test_a_guard_covers_one_thread():
    found = []
    with unique_name.guard("here/"):
        thread = threading.Thread(target=lambda: found.append(unique_name.generate("fc")))
        thread.start()
        thread.join()
    assert found == ["fc_0"]
