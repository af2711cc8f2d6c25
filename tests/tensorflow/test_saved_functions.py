# SPDX-License-Identifier: Apache-2.0
"""--saved_model_function: a function of a saved program is the model, for saved models without signatures."""

from tf_workshop import Graph, meta_graph, np, run_parts, save_bundle, save_saved_model, signature
from tf_program import Program, saved_program


def save(folder, program=None, without=None):
    """Writes the folder; without: a tensor that the checkpoint lacks."""
    meta, tensors = program or saved_program()
    save_saved_model(folder, meta)
    save_bundle(folder / "variables" / "variables", {key: value for key, value in tensors.items() if key != without})
    return folder


def choosing(w):
    model = save(w.folder / "saved")
    listed = "the functions are: both, counted, counting, __inference_many_0, __inference_many_1, files, scale.apply, shift.apply"
    w.fails("no signature", 2, ["the saved model has no signatures", "--saved_model_function", listed], model)
    w.fails("no such function", 2, ["no function bth", "did you mean both?", listed], model, "--saved_model_function", "bth")
    w.fails("many", 2, ["no function many"], model, "--saved_model_function", "many")
    w.fails("two choices", 2, ["contradict each other"], model, "--saved_model_function", "both",
            "--saved_model_signature_key", "x")
    g = Graph()
    g.node("Neg", [g.placeholder("x", np.float32, [2])], name="y")
    w.fails("no saved model", 2, ["the model is no saved model"], g, "--saved_model_function", "both")


def numbers(w):
    model = save(w.folder / "saved")
    for label, name, inputs, outputs in (
            ("of a part", "scale.apply", {"x": [3, 4]}, {"Identity": [6, -4]}),
            ("of another part", "shift.apply", {"x": [3, 4]}, {"Identity": [13, 24]}),
            ("by its name in the model", "__inference_shifting_1", {"x": [3, 4]}, {"Identity": [13, 24]}),
            ("one of several", "__inference_many_0", {"x": [3, -4]}, {"Identity": [-3, 4]}),
            ("another of several", "__inference_many_1", {"x": [3, -4]}, {"Identity": [3, 0]}),
            ("that counts", "counting", {"x": [3, -4]}, {"Identity": [9, 16]})):
        w.gives(label, model, inputs, outputs, "--saved_model_function", name)
    both = ["--saved_model_function", "both"]
    # (3 * 2 + 10) * 2 + 0.5, (4 * -1 + 20) * 2 + 0.25; -(3 * 2), -(4 * -1)
    container = w.gives("of all", model, {"x": [3, 4], "s": [2]}, {"Identity": [32.5, 32.25], "Identity_1": [-6, 4]}, *both,
                        "-d", "x", "1,2")
    w.checks.equal("inputs", sorted(t.name for t in container.tensors.values() if t.kind == "APP_WRITE"), ["s:0", "x:0"])
    w.gives("-d of what is not read", model, {"x": [3, 4], "s": [2]}, {"Identity": [32.5, 32.25], "Identity_1": [-6, 4]}, *both,
            "-d", "x", "1,2", "-d", "unused", "3")
    w.gives("ends inside", model, {"x": [3, 4]}, {"call_1/Identity": [16, 16]}, *both, "-d", "x", "1,2", "--out_node",
            "call_1/Identity")
    w.gives("begins inside", model, {"mul": [3, 4]}, {"sum": [3.5, 4.25]}, *both, "-d", "mul", "1,2", "--out_node", "sum")


def refusals(w):
    model = save(w.folder / "saved")
    w.fails("open dimensions", 1, ["x:0 has open dimensions: [?,2]"], model, "--saved_model_function", "both")
    w.fails("a variable that changes", 1, ["the graph changes variable n while it runs"], model, "--saved_model_function",
            "counted")
    w.fails("what is neither", 1, ["takes file from around it, which is neither a variable nor a constant"], model,
            "--saved_model_function", "files")
    w.fails("an unknown output", 2, ["no value or node smu", "did you mean sum?"], model, "--saved_model_function", "both",
            "-d", "x", "1,2", "--out_node", "smu")
    model = save(w.folder / "unsaved", without="scale/w")
    w.fails("not saved", 1, ["the checkpoint has no value for the variable scale.w"], model, "--saved_model_function",
            "scale.apply")
    w.gives("not needed", model, {"x": [3, 4]}, {"Identity": [13, 24]}, "--saved_model_function", "shift.apply")
    bare = w.folder / "bare"
    save_saved_model(bare, meta_graph(Program()))
    w.fails("no objects", 2, ["no signatures and no functions", "--out_node"], bare)


def beside_signatures(w):
    """A model with a signature is converted by it, unless a function is named."""
    g = Program()
    x = g.placeholder("serving_x", np.float32, [1, 2])
    y = g.node("Neg", [x], name="y")
    sign = signature({"x": (x, [1, 2])}, {"y": (y, [1, 2])})
    model = save(w.folder / "saved", saved_program(g, {"serving_default": sign}))
    w.gives("its signature", model, {"serving_x": [3, 4]}, {"y": [-3, -4]})
    w.gives("its function", model, {"x": [3, 4]}, {"Identity": [6, -4]}, "--saved_model_function", "scale.apply")


run_parts(choosing, numbers, refusals, beside_signatures)
