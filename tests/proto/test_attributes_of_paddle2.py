"""Attributes of the types that came with paddle 2, in a file that paddlepaddle 2.6.2 made."""

import base64

import pytest

import fluidlite as fluid
from fluidlite import core

#: a ``scale`` with attributes of all these types
DATA = base64.b64decode(
    "CuMECAAQ////////////ARohCg1zY2FsZV8wLnRtcF8wEgwIBxoICgQIBRACEAAYADABGhcKAXgSDAgHGggKBAgF"
    "EAIQABgAIAEwASKXBAoNCgtTY2FsZVRlbnNvcgoGCgFYEgF4EhQKA091dBINc2NhbGVfMC50bXBfMBoFc2NhbGUi"
    "EAoKdXNlX21rbGRubhAGUAAiDQoEYmlhcxABJQAAAAAiFgoQYmlhc19hZnRlcl9zY2FsZRAGUAEiDwoJb3BfZGV2"
    "aWNlEAIqACITCgxvcF9uYW1lc2NvcGUQAioBLyINCgdvcF9yb2xlEAAYACIPCgtvcF9yb2xlX3ZhchAFIg4KBXNj"
    "YWxlEAElAAAAQCIVCg93aXRoX3F1YW50X2F0dHIQBlAAIhkKC25vdGVfZG91YmxlEA+ZAZqZmZmZmbk/IiQKDG5v"
    "dGVfZG91YmxlcxAMgQGamZmZmZm5P4EBAAAAAAAABEAiGwoJbm90ZV9yZWFsEBCiAQsIAyEAAAAAAAAEQCIVCgpu"
    "b3RlX3dob2xlEBCiAQQIAhgDIhUKCm5vdGVfdHJ1dGgQEKIBBAgBEAEiKQoMbm90ZV9jb21wbGV4EBCiARYIBCoS"
    "CQAAAAAAAPA/EQAAAAAAAABAIkUKDG5vdGVfc2NhbGFycxARqgELCAMhAAAAAAAA+D+qAQQIAhgCqgEECAEQAaoB"
    "FggEKhIJAAAAAAAA8D8RAAAAAAAA8L8iFQoNbm90ZV92YXJpYWJsZRANigEBeCImCg5ub3RlX3ZhcmlhYmxlcxAO"
    "kgEBeJIBDXNjYWxlXzAudG1wXzAiBAjyt3oq0AoKHgoYZGlzdHJpYnV0ZV9mcG5fcHJvcG9zYWxzEgIIAgoVCg9l"
    "bGVtZW50d2lzZV9hZGQSAggBChUKD2VsZW1lbnR3aXNlX3N1YhICCAEKEwoNc2VuZF9hbmRfcmVjdhICCAEKEAoK"
    "bWF0cml4X25tcxICCAEKCwoFbHN0c3ESAggBCg4KCHF1YW50aXplEgIIAgogChpkZXB0aHdpc2VfY29udjJkX3Ry"
    "YW5zcG9zZRICCAEKFAoOcmFua19hdHRlbnRpb24SAggBCg4KCHJvaV9wb29sEgIIAgoKCgRtaXNoEgIIAQobChVn"
    "ZW5lcmF0ZV9wcm9wb3NhbHNfdjISAggBCgoKBGZsaXASAggBChsKFWNvbGxlY3RfZnBuX3Byb3Bvc2FscxICCAEK"
    "EwoNZmlsbF9jb25zdGFudBICCAIKDAoGY3Vtc3VtEgIIAQoTCg1pbnN0YW5jZV9ub3JtEgIIAQoVCg9jb2FsZXNj"
    "ZV90ZW5zb3ISAggCChcKEWZvcl9weWJpbmRfdGVzdF9fEgIIBAoKCgRsYW1iEgIIAQoMCgZwX25vcm0SAggBCg4K"
    "CG1vbWVudHVtEgIIAQoQCgpjdWRubl9sc3RtEgIIAQoRCgtoYXJkX3NocmluaxICCAEKFQoPdHJhbnNmZXJfbGF5"
    "b3V0EgIIAQoWChBjb252M2RfdHJhbnNwb3NlEgIIAQooCiJmYWtlX2NoYW5uZWxfd2lzZV9xdWFudGl6ZV9hYnNf"
    "bWF4EgIIAQoWChBjb252MmRfdHJhbnNwb3NlEgIIAgoTCg1waXhlbF9zaHVmZmxlEgIIAQoMCgZnYXRoZXISAggB"
    "ChIKDGxvb2t1cF90YWJsZRICCAEKFgoQZGVwdGh3aXNlX2NvbnYyZBICCAEKEwoNZ3JlYXRlcl9lcXVhbBICCAEK"
    "EAoKZGVxdWFudGl6ZRICCAEKHgoYZ2VuZXJhdGVfcHJvcG9zYWxfbGFiZWxzEgIIAgoMCgZjb252MmQSAggBCg4K"
    "CHlvbG9fYm94EgIIAQoQCgpsZXNzX2VxdWFsEgIIAQoOCghsaW5zcGFjZRICCAEKCgoEcm9sbBICCAIKEgoMZ3Jp"
    "ZF9zYW1wbGVyEgIIAQoRCgthZmZpbmVfZ3JpZBICCAEKDgoIYWxsY2xvc2USAggCCgwKBmNvbnYzZBICCAEKCgoE"
    "Y2xpcBICCAEKDwoJcm9pX2FsaWduEgIIAwoJCgNhdWMSAggBChUKD2VsZW1lbnR3aXNlX2RpdhICCAEKEAoKbGVh"
    "a3lfcmVsdRICCAEKCwoFdHJhY2USAggBCg4KCHNvZnRwbHVzEgIIAQoLCgVwcmludBICCAEKGAoSdW5pcXVlX2Nv"
    "bnNlY3V0aXZlEgIIAQoVCg9lbGVtZW50d2lzZV9tdWwSAggBCg8KCXNldF92YWx1ZRICCAQKCgoEc2VlZBICCAEK"
    "EAoKcmVxdWFudGl6ZRICCAEKDwoJbGVzc190aGFuEgIIAQoPCglkYXRhX25vcm0SAggBCgwKBm1hdG11bBICCAEK"
    "GAoSZ2VuZXJhdGVfcHJvcG9zYWxzEgIIAgoVCg9lbGVtZW50d2lzZV9wb3cSAggBChUKD2xvb2t1cF90YWJsZV92"
    "MhICCAEKCwoFZXF1YWwSAggBChIKDGdyZWF0ZXJfdGhhbhICCAEKDwoJbm90X2VxdWFsEgIIAQoiChxtb3Zpbmdf"
    "YXZlcmFnZV9hYnNfbWF4X3NjYWxlEgIIAgoqCiRmYWtlX2NoYW5uZWxfd2lzZV9kZXF1YW50aXplX21heF9hYnMS"
    "AggC"
)
EXPECTED = {
    "note_double": ("FLOAT64", 0.1),
    "note_doubles": ("FLOAT64S", [0.1, 2.5]),
    "note_real": ("SCALAR", 2.5),
    "note_whole": ("SCALAR", 3),
    "note_truth": ("SCALAR", True),
    "note_complex": ("SCALAR", 1 + 2j),
    "note_scalars": ("SCALARS", [1.5, 2, True, 1 - 1j]),
    "note_variable": ("VAR", "x"),
    "note_variables": ("VARS", ["x", "scale_0.tmp_0"]),
}


@pytest.mark.filterwarnings("ignore:the program. fluidlite does not know")
@pytest.mark.parametrize("type", [b"scale", b"other"])
def test_they_are_read_and_written_as_they_were(type):
    data = DATA.replace(b"\x1a\x05scale", b"\x1a\x05" + type)
    program = fluid.Program.parse_from_string(data)
    op = program.global_block().ops[0]
    assert op.type == type.decode()
    found = {n: (op.attr_type(n).name, op.attr(n)) for n in op.attr_names if n in EXPECTED}
    assert found == EXPECTED
    assert op.attr("note_truth") is True and op.attr_type("note_whole") == core.AttrType.SCALAR
    assert program.to_bytes() == program.clone().to_bytes() == data
    assert type.decode() in str(program)
