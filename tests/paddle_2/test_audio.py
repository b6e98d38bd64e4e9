"""Sounds: files, windows, mels, features and sets."""

import math
import wave

import numpy as np
import pytest

from fluidlite import errors, paddle

audio = paddle.audio
F = audio.functional


def written(path, data, width=2, channels=1, rate=16000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(bytes(data))
    return str(path)


def test_what_is_saved_is_loaded_up_to_half_a_step(tmp_path):
    file = str(tmp_path / "a.wav")
    sound = np.array([[0.0, 0.5, -0.5, 1.0, -1.0, 0.25, 1.5, -1.5], [0.1] * 8], "float32")
    audio.save(file, paddle.to_tensor(sound), 8000)
    found = audio.info(file)
    assert found == audio.backends.backend.AudioInfo(8000, 8, 2, 16, "PCM_S")
    samples, rate = audio.load(file)
    assert (samples.shape, rate) == ([2, 8], 8000)
    np.testing.assert_allclose(samples.numpy(), sound.clip(-1, 1), atol=2**-15)
    audio.save(file, paddle.to_tensor(sound.T.astype("float64")), 8000, channels_first=False)
    np.testing.assert_array_equal(audio.load(file)[0].numpy(), samples.numpy())
    turned = audio.load(file, channels_first=False)[0]
    np.testing.assert_array_equal(turned.numpy(), samples.numpy().T)


def test_a_part_of_a_file_is_loaded(tmp_path):
    file = str(tmp_path / "a.wav")
    whole = np.arange(6, dtype="int16")[None]
    audio.save(file, paddle.to_tensor(whole), 8000)
    for offset, count, expected in [(0, -1, whole), (2, -1, whole[:, 2:]), (2, 3, whole[:, 2:5])]:
        part, _ = audio.load(file, offset, count, normalize=False)
        np.testing.assert_array_equal(part.numpy(), expected)
    assert audio.load(file, 9)[0].shape == [1, 0]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_whole_numbers_of_one_to_four_bytes_are_read(tmp_path, width):
    steps = 2 ** (8 * width - 1)
    numbers = [-steps, -1, 0, 1, steps - 1, steps // 2]
    shifted = [n + 128 if width == 1 else n for n in numbers]
    data = b"".join(n.to_bytes(width, "little", signed=width > 1) for n in shifted)
    file = written(tmp_path / "a.wav", data, width, 2)
    samples, rate = audio.load(file)
    assert rate == 16000
    np.testing.assert_allclose(samples.numpy(), np.reshape(numbers, [-1, 2]).T / steps, atol=1e-7)
    assert audio.info(file).bits_per_sample == 8 * width


def test_files_and_arguments_of_no_meaning_are_refused(tmp_path):
    broken = tmp_path / "b.wav"
    broken.write_bytes(b"hello")
    file, ones = str(tmp_path / "c.wav"), paddle.ones([1, 4])
    for make, error, message in [
        (
            lambda: audio.load(str(broken)),
            "FileFormatError",
            "a WAV file of whole numbers: it ends",
        ),
        (lambda: audio.info(file), "FileError", "there is no such file"),
        (lambda: audio.save(file, ones[0], 8000), "ShapeError", "two dimensions, got shape"),
        (lambda: audio.save(file, ones.numpy(), 8000), "ArgumentError", "a tensor, got ndarray"),
        (lambda: audio.save(file, ones.astype("int32"), 8000), "DTypeError", "fractions or int16"),
        (lambda: audio.save(file, ones, 8000, bits_per_sample=24), "ArgumentError", "16, got 24"),
        (lambda: audio.backends.set_backend("x"), "ArgumentError", "'wave_backend', got 'x'"),
        (lambda: F.get_window("x", 4), "ArgumentError", "a window of hamming, .*, got 'x'"),
        (lambda: F.get_window("hann", -1), "ArgumentError", "win_length to be an integer from 0"),
        (lambda: F.get_window(5.0, 4), "ArgumentError", "a name or a tuple, got 5.0"),
        (lambda: F.get_window("gaussian", 4), "ArgumentError", "with 1 to 1 parameters, got 0"),
        (lambda: F.compute_fbank_matrix(8000, 64, norm="x"), "ArgumentError", '"slaney", a number'),
        (lambda: F.create_dct(2, 4, "x"), "ArgumentError", '"ortho" or None'),
        (lambda: F.power_to_db(ones, amin=0), "ArgumentError", "amin above 0, got 0"),
        (lambda: audio.features.MFCC(n_mfcc=80), "ArgumentError", "n_mfcc up to n_mels=64, got 80"),
    ]:
        with pytest.raises(getattr(errors, error), match=message):
            make()
    assert not (tmp_path / "c.wav").exists()


#: the first weights of windows of 7 and 8 samples, and their sum, as paddle 2.6.2 gives them
WINDOWS = {
    ("hamming", 7, True): ([0.08, 0.253195, 0.64236], 3.78),
    ("hann", 8, False): ([0.0, 0.188255, 0.61126], 3.5),
    ("triang", 7, True): ([0.125, 0.375, 0.625], 3.875),
    ("triang", 7, False): ([0.25, 0.5, 0.75], 4.0),
    ("bohman", 8, True): ([0.0, 0.048302, 0.31831], 3.244043),
    ("blackman", 7, True): ([0.0, 0.090453, 0.459183], 2.94),
    ("cosine", 8, True): ([0.173648, 0.5, 0.766044], 5.585122),
    ("tukey", 7, True): ([0.0, 0.61126, 1.0], 5.222521),
    ("taylor", 8, False): ([0.279346, 0.51496, 0.797302], 5.134437),
    (("gaussian", 7), 7, True): ([0.882497, 0.938216, 0.977302], 6.708437),
    (("exponential", None, 2.0), 7, True): ([0.173774, 0.286505, 0.472367], 3.249118),
    (("exponential", 3, 2.0), 8, True): ([0.22313, 0.367879, 0.606531], 3.530416),
    (("general_gaussian", 1.5, 7), 8, True): ([0.910925, 0.961406, 0.988406], 7.807636),
    (("tukey", 0.25), 8, True): ([0.0, 1.0, 1.0], 7.0),
    (("taylor", 4, 30, True), 7, False): ([0.290095, 0.578213, 0.878008], 4.492632),
    (("general_hamming", 0.5), 7, True): ([0.0, 0.188255, 0.61126], 3.5),
    (("general_cosine", (0.5, 0.3)), 7, False): ([0.2, 0.35, 0.65], 3.2),
}


def test_windows_have_the_weights_that_paddle_gives():
    for (window, length, repeated), (first, whole) in WINDOWS.items():
        weights = F.get_window(window, length, repeated).numpy()
        assert weights.dtype == np.float64
        np.testing.assert_allclose(weights[:3], first, atol=1e-6, err_msg=str(window))
        np.testing.assert_allclose(weights.sum(), whole, atol=1e-6, err_msg=str(window))
    assert F.get_window("hann", 1).tolist() == [1.0]


@pytest.mark.parametrize("htk", [False, True])
def test_mels_are_turned_back_into_hertz(htk):
    hertz = [0.0, 3.0, 440.0, 999.0, 1001.0, 4000.0]
    mels = [F.hz_to_mel(each, htk) for each in hertz]
    assert mels == sorted(mels)
    np.testing.assert_allclose([F.mel_to_hz(each, htk) for each in mels], hertz, atol=1e-5)
    tensor = paddle.to_tensor(hertz[1:], "float64", stop_gradient=False)
    found = F.hz_to_mel(tensor, htk)
    np.testing.assert_allclose(found.numpy(), mels[1:])
    found.sum().backward()
    h = 1e-4
    steps = [(F.hz_to_mel(x + h, htk) - F.hz_to_mel(x - h, htk)) / (2 * h) for x in hertz[1:]]
    np.testing.assert_allclose(tensor.grad.numpy(), steps, rtol=1e-5)
    np.testing.assert_allclose(F.mel_to_hz(found, htk).numpy(), hertz[1:], rtol=1e-6)
    assert F.hz_to_mel(1000.0) == pytest.approx(15)


def test_bands_are_triangles_between_equal_steps_of_mels():
    bands = F.compute_fbank_matrix(16000, 64, 8, norm=None, dtype="float64").numpy()
    edges = F.mel_frequencies(10, 0.0, 8000.0, dtype="float64").numpy()
    rows = F.fft_frequencies(16000, 64, "float64").numpy()
    for k in range(8):
        expected = np.interp(rows, edges[k : k + 3], [0, 1, 0])
        np.testing.assert_allclose(bands[k], expected, atol=1e-12)
    even = F.compute_fbank_matrix(16000, 64, 8, dtype="float64").numpy()
    np.testing.assert_allclose(even, bands * (2 / (edges[2:] - edges[:-2]))[:, None])
    for order in (1.0, 2, math.inf):
        rows = F.compute_fbank_matrix(16000, 64, 8, norm=order).numpy()
        np.testing.assert_allclose(np.linalg.norm(rows, order, axis=1), 1, rtol=1e-6)


def test_the_cosine_transform_keeps_lengths():
    whole = F.create_dct(8, 8, dtype="float64").numpy()
    np.testing.assert_allclose(whole.T @ whole, np.eye(8), atol=1e-12)
    assert F.create_dct(2, 8, None).numpy()[0].tolist() == pytest.approx([2.0, 1.961571])


def test_decibels_are_cut_below_the_largest_one():
    powers = paddle.to_tensor([0.0, 0.5, 3.0, 100.0])
    for options, expected in [
        ({}, [-60.0, -3.0103, 4.771213, 20.0]),
        ({"ref_value": 2.0}, [-63.0103, -6.0206, 1.760913, 16.9897]),
        ({"top_db": None}, [-100.0, -3.0103, 4.771213, 20.0]),
        ({"top_db": 10.0}, [10.0, 10.0, 10.0, 20.0]),
        ({"amin": 1e-3}, [-30.0, -3.0103, 4.771213, 20.0]),
    ]:
        found = F.power_to_db(powers, **options).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=str(options))


def sound(dtype="float32"):
    k = np.arange(4000)
    return (np.sin(k * 0.05) * 0.5 + 0.1 * np.cos(k * 0.7)).astype(dtype)


#: a layer -> the shape of what paddle 2.6.2 gives of the sound, its sum and its first numbers
LAYERS = {
    "Spectrogram(n_fft=256)": ([129, 8], 665.95567, [26.323, 0.16682]),
    "Spectrogram(256, 100, 200, 'hamming', 2.0, False)": (
        [129, 38],
        50425.19505,
        [0.28635, 15.017],
    ),
    "Spectrogram(256, None, pad_mode='constant')": ([129, 63], 5022.68583, [13.2115, 3.45835]),
    "MelSpectrogram(8000, 256, None, n_mels=20)": ([20, 63], 167.91199, [1.9128, 2.05006]),
    "MelSpectrogram(8000, 256, n_mels=10, htk=True, norm=2.0, f_max=3000.0)": (
        *([10, 8], 1270.85928),
        [121.10312, 132.21167],
    ),
    "LogMelSpectrogram(8000, 256, n_mels=20)": ([20, 63], -83110.689, [2.81669, 3.11767]),
    "LogMelSpectrogram(8000, 256, n_mels=20, top_db=20.0, ref_value=2.0, amin=1e-4)": (
        *([20, 63], -22259.947),
        [-0.19361, 0.10737],
    ),
    "MFCC(8000, 13, 256, n_mels=20)": ([13, 63], -3558.07791, [-147.98257, -169.23607]),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_features_are_those_of_paddle(layer):
    shape, whole, first = LAYERS[layer]
    made = eval(f"audio.features.{layer}", {"audio": audio})
    wave_form = paddle.to_tensor(sound())
    found = made(wave_form)
    assert found.shape == shape
    np.testing.assert_allclose(found.numpy().astype("float64").sum(), whole, rtol=1e-5)
    np.testing.assert_allclose(found.numpy().ravel()[:2], first, rtol=2e-4)
    both = made(paddle.stack([wave_form, wave_form * 0.5]))
    np.testing.assert_allclose(both.numpy()[0], found.numpy(), rtol=1e-3, atol=1e-3)


def test_weights_of_features_are_in_their_states():
    layer = audio.features.MFCC(8000, 13, 256, n_mels=20)
    shapes = {name.rpartition(".")[2]: each.shape for name, each in layer.state_dict().items()}
    assert shapes == {"dct_matrix": [20, 13], "fbank_matrix": [20, 129], "fft_window": [256]}


def test_programs_have_features_and_their_gradients():
    samples = sound()[None, :1000]
    layer = audio.features.LogMelSpectrogram(8000, 128, n_mels=8)
    tensor = paddle.to_tensor(samples, stop_gradient=False)
    expected = layer(tensor)
    expected.sum().backward()
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [1, 1000], "float32")
        x.stop_gradient = False
        told = layer(x)
        (slope,) = paddle.static.gradients([told.sum()], [x])
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        found, sloped = exe.run(feed={"x": samples}, fetch_list=[told, slope])
    paddle.disable_static()
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(sloped, tensor.grad.numpy(), rtol=1e-2, atol=1e-1)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with small sets of sounds."""
    monkeypatch.setenv("HOME", str(tmp_path))
    sets = tmp_path / ".cache" / "paddle" / "dataset"
    table = ["filename,fold,target,category,esc10,src_file,take"]
    for folder in ("ESC-50-master/audio", "ESC-50-master/meta"):
        (sets / folder).mkdir(parents=True)
    for k in range(6):
        name = f"{k % 5 + 1}-{k}-A-{k}.wav"
        written(sets / "ESC-50-master" / "audio" / name, [k, 1] * 800)
        table.append(f"{name},{k % 5 + 1},{k},kind{k},True,{k},A")
    (sets / "ESC-50-master" / "meta" / "esc50.csv").write_text("\n".join(table))
    for feeling in audio.datasets.TESS.label_list:
        folder = sets / "TESS_Toronto_emotional_speech_set" / f"OAF_{feeling}"
        folder.mkdir(parents=True)
        for word in ("back", "bar"):
            written(folder / f"OAF_{word}_{feeling}.wav", [1, 2] * 400)
    return tmp_path


def test_sets_of_sounds_are_divided_into_parts(home):
    train, test = (audio.datasets.ESC50(mode, split=1) for mode in ("train", "dev"))
    assert (train.labels, test.labels) == ([1, 2, 3, 4], [0, 5])
    samples, label = test[1]
    assert (samples.shape, str(samples.dtype), label) == ([800], "float32", 5)
    parts = [audio.datasets.TESS("dev", 3, split) for split in (1, 2, 3)]
    assert sum(map(len, parts)) == 14
    assert len(audio.datasets.TESS("train", 3, 1)) == 14 - len(parts[0])
    assert sorted(label for part in parts for label in part.labels) == [k // 2 for k in range(14)]
    bands = audio.datasets.ESC50("dev", 2, "mfcc", n_mfcc=10, n_mels=20, n_fft=128)[0][0]
    assert bands.shape == [10, 26]
    assert audio.datasets.ESC50("dev", 2, "spectrogram", n_fft=128)[0][0].shape == [65, 2]


def test_sets_that_are_not_there_say_where_they_belong(home):
    with pytest.raises(errors.ArgumentError, match="split to be an integer from 1 to 5, got 9"):
        audio.datasets.ESC50(split=9)
    with pytest.raises(errors.ArgumentError, match="one of raw, .*, got 'x'"):
        audio.datasets.TESS(feat_type="x")
    (home / ".cache" / "paddle" / "dataset").rename(home / "elsewhere")
    for name in ("ESC50", "TESS"):
        place = r"read .*/\.cache/paddle/dataset/\S+: there is no such file or folder; put"
        with pytest.raises(errors.FileError, match=place):
            getattr(audio.datasets, name)()
