# SPDX-License-Identifier: Apache-2.0
import signal
import subprocess
import threading

import numpy as np
import opendlc
import pytest


def test_numbers_are_those_of_onnx_runtime(container, image, expected):
    with opendlc.Run(container) as run:
        np.testing.assert_allclose(run({"image": image})["scores"], expected, atol=1e-4)
        np.testing.assert_allclose(run(image.astype(np.float64))["scores"], expected, atol=1e-4)
        assert run.inputs == [{"name": "image", "dtype": "Float_32", "shape": (1, 16, 16, 1), "needed": True}]
        assert [io["name"] for io in run.outputs] == ["scores"] and run.steps()[0]["backend"] in run.backends()
    np.testing.assert_allclose(opendlc.run(container.read_bytes(), image)["scores"], expected, atol=1e-4)


def test_results_without_a_copy(container, image):
    run = opendlc.Run(container)
    copied, shown = run(image)["scores"], run(image, copy=False)["scores"]
    assert not shown.flags.writeable and copied.flags.writeable
    run(image * 0)
    assert not np.array_equal(shown, copied)  # the next call overwrites them
    run.close()
    assert np.isfinite(shown).all()  # the memory stays
    with pytest.raises(ValueError, match="is closed"):
        run(image)


def test_what_is_computed(container, image):
    with opendlc.Run(container, nodes=["c0"], backends=["reference"]) as run:
        (name, value), = run(image).items()
        assert value.shape == run.outputs[0]["shape"]
    with opendlc.Run(container, everything=True) as run:
        assert {name, "scores"} <= set(run(image))
    with pytest.raises(opendlc.UsageError, match="no tensor 'x'"):
        opendlc.Run(container, outputs=["x"])
    with pytest.raises(ValueError):
        opendlc.Run(container, outputs=["scores"], everything=True)
    with pytest.raises(opendlc.UsageError, match="not in this build"):
        opendlc.Run(container, backends=["tpu"])


def test_inputs_that_do_not_fit(container, image):
    with opendlc.Run(container) as run:
        with pytest.raises(ValueError, match="shape"):
            run(image[0])
        with pytest.raises(opendlc.UsageError, match="no input 'picture'"):
            run({"picture": image})
        with pytest.raises(opendlc.UsageError, match="no data for input 'image'"):
            run({})
        with pytest.raises(TypeError, match="native"):
            run(image.astype(np.float64), native=True)
        assert run(image)["scores"].shape == (1, 10)


def test_steps_are_told_and_stopped(container, image, expected):
    with opendlc.Run(container) as run:
        told = []
        run(image, progress=lambda done, total: told.append((done, total)))
        assert told == [(i, len(run.steps())) for i in range(len(run.steps()))]
        with pytest.raises(opendlc.StoppedError):
            run(image, progress=lambda done, total: done == 3)
        with pytest.raises(KeyboardInterrupt):
            run(image, progress=lambda *_: signal.raise_signal(signal.SIGINT))
        np.testing.assert_allclose(run(image)["scores"], expected, atol=1e-4)


def test_threads_have_objects_of_their_own(container, image, expected):
    found = []
    threads = [threading.Thread(target=lambda: found.append(opendlc.run(container, image)["scores"])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for scores in found:
        np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_quantized_as_the_command_does(container, image, tools, tmp_path):
    listed, made = tmp_path / "list.txt", tmp_path / "fixed.dlc"
    image.tofile(tmp_path / "image.raw")
    listed.write_text(f"{tmp_path}/image.raw\n")
    subprocess.run([tools / "dlc-quantize", "-i", container, "-o", made, "-l", listed, "--act_bitwidth", "16",
                    "--weights_bitwidth", "8", "--use_per_channel_quantization"], check=True, stdout=subprocess.DEVNULL)
    quantized = opendlc.quantize(container, inputs=[image], act_bits=16, weights_bits=8, per_channel=True)
    assert opendlc.diff(made, quantized.container, categories=["types", "encodings", "weights"]).same
    assert opendlc.run(quantized.container, image)["scores"].dtype == np.float32
    with opendlc.Run(quantized.container) as run:
        stored = run({"image": np.zeros((1, 16, 16, 1), np.uint16)}, native=True)["scores"]
        assert stored.dtype == np.uint16


def test_quantizing_needs_what_it_needs(container, image, tmp_path):
    with pytest.raises(ValueError, match="inputs"):
        opendlc.quantize(container)
    with pytest.raises(ValueError, match="another pass"):
        opendlc.quantize(container, inputs=iter([image]), correct_biases=True)
    with pytest.raises(ValueError, match="no input 'x'"):
        opendlc.quantize(container, inputs=[{"x": image}])
    with pytest.raises(opendlc.UsageError, match="no width of 5 bits"):
        opendlc.quantize(container, inputs=[image], act_bits=5)
    with pytest.raises(opendlc.InvalidError):
        opendlc.quantize(container, inputs=[image * np.nan])
    with pytest.raises(TypeError, match="did you mean 'act_bits'"):
        opendlc.quantize(container, inputs=[image], act_bit=8)
    with pytest.raises(opendlc.StoppedError):
        opendlc.quantize(container, inputs=[image], progress=lambda *_: True)
    passes = []

    def begin():
        passes.append(1)
        return iter([image])

    made = opendlc.quantize(container, tmp_path / "fixed.dlc", inputs=begin, correct_biases=True, command="by hand")
    assert len(passes) >= 2 and made.container is None
    with made.open() as c:
        assert c.metadata["quantizer-command"] == "by hand"
