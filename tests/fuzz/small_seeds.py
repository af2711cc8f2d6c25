# SPDX-License-Identifier: Apache-2.0
"""Seeds of the targets for configs, shape rules, input lists and files of one tensor: a function a target, which writes files
into a folder."""

import io
import re

from checks import SHARED, SOURCE

GUIDE = SOURCE / "docs" / "udo-config.md"

JSON = """\ufeff{"": {"UDO_PACKAGE_NAME": "First", "UDO_PACKAGE_PATH": "/x", "SNPE_UDO_ROOT": "/y", "Operators": [
  {"type": "Full", "domain": "ai.onnx",
   "inputs": [{"name": "x", "per_core_data_types": {"DSP": "UINT_8", "CPU": "FLOAT_32"}, "tensor_layout": "NCHW",
               "quantization_mode": "TF"},
              {"static": true, "data_type": "INT_32", "default_value": [[1, 2, 3], [4, 5, 6]]},
              {"name": "", "per_core_data_type": {"DSP": "UINT_8", "GPU": "FLOAT_16"}, "optional": true, "repeated": true}],
   "outputs": [{"name": "y", "data_type": "FLOAT_16", "tensor_layout": "NHWC", "shape": [1, "in0[1]", "in0[-1] / 2"]},
               {"shape": "same_as in1"}, {"data_type": "FIXED_8", "optional": true}],
   "scalar_params": [{"name": "alpha", "data_type": "FLOAT_32", "default_value": 0.1},
                     {"name": "big", "data_type": "INT_32", "default_value": -2147483648},
                     {"name": "flag", "data_type": "BOOL_8", "default_value": true},
                     {"name": "mode", "data_type": "STRING", "default_value": "R\\u00e4\\n\\ud83d\\ude00"},
                     {"name": "none", "data_type": "UINT_32"}],
   "tensor_params": [{"name": "pads", "data_type": "INT_32", "default_value": [0, 1]},
                     {"name": "one", "data_type": "FLOAT_32", "default_value": 2}],
   "core_types": ["DSP", "CPU"], "dsp_arch_types": ["v68", "v73"]}]},
 "Other": {"UDO_PACKAGE_NAME": "Second", "Operators": [{"type": "Small", "inputs": [{}], "outputs": [{}]}]}}
"""

XML = """<?xml version="1.0" encoding="UTF-8"?><!-- a -->
<OpDefCollection PackageName="P" Domain="d" Version="1" UseQHPI="true" xmlns:xsi="http://a" xsi:noNamespaceSchemaLocation="b">
<OpDefList Version="2">
<OpDef><Name>T</Name><Description><Content>c</Content></Description><Reference Source="s" Url="u"/>
<Input><Name>x</Name><Mandatory>true</Mandatory><Datatype>FLOAT_32</Datatype><Datatype>QNN_DATATYPE_UFIXED_POINT_8</Datatype>
<Shape><Rank>4D</Rank><Layout>NHWC</Layout><Text>[1, h]</Text></Shape></Input>
<Input><Name>w</Name><Mandatory>false</Mandatory><Datatype>BACKEND_SPECIFIC</Datatype><Shape><Rank>ND</Rank></Shape>
<Default>{{1, 2}, {3, 4}}</Default><IsStaticTensor>true</IsStaticTensor></Input>
<Input><Name>m</Name><Mandatory>false</Mandatory><Datatype>INT_64</Datatype><Shape><Rank>1D</Rank></Shape><Repeated>1</Repeated></Input>
<Output><Name>y</Name><Mandatory>true</Mandatory><Datatype>FLOAT_16</Datatype><Shape><Rank>4D</Rank>
<Layout>BACKEND_SPECIFIC</Layout></Shape></Output>
<Parameter><Name>alpha</Name><Mandatory>false</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape>
<Default>0.5f</Default></Parameter>
<Parameter><Name>mode</Name><Mandatory>false</Mandatory><Datatype>UINT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape>
<Default>LAST</Default><Enumeration><Enum>FIRST</Enum><Enum>LAST</Enum></Enumeration></Parameter>
<Parameter><Name>names</Name><Mandatory>false</Mandatory><Datatype>STRING</Datatype><Shape><Rank>1D</Rank></Shape>
<Default>{"a", 'b'}</Default></Parameter>
<Parameter><Name>formula</Name><Mandatory>false</Mandatory><Datatype>INT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape>
<Default>N-1</Default></Parameter>
<UseDefaultTranslation>false</UseDefaultTranslation><SupportedBackend>CPU</SupportedBackend><SupportedBackend>HTP</SupportedBackend>
</OpDef>
<OpDef><Name>Concat</Name><Input><Name>in</Name><Mandatory>true</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>ND</Rank></Shape>
<Repeated>true</Repeated></Input><Output><Name>out</Name><Mandatory>true</Mandatory><Datatype>FLOAT_32</Datatype>
<Shape><Rank>ND</Rank></Shape></Output><Parameter><Name>axis</Name><Mandatory>true</Mandatory><Datatype>UINT_32</Datatype>
<Shape><Rank>SCALAR</Rank></Shape></Parameter><UseDefaultTranslation>true</UseDefaultTranslation></OpDef>
</OpDefList>
<SupplementalOpDefList Backend="HTP"><SupportedOps><OpName>Concat</OpName></SupportedOps>
<SupplementalOpDef><Name>T</Name><Input><Name>x</Name><Datatype>UFIXED_POINT_8</Datatype></Input>
<Input><Name>w</Name><Datatype>UINT_8</Datatype><Constraint>c</Constraint></Input>
<Output><Name>y</Name><Shape><Layout>NHWC</Layout></Shape></Output>
<Parameter><Name>alpha</Name><OnlyDefaultSupported>true</OnlyDefaultSupported></Parameter></SupplementalOpDef>
</SupplementalOpDefList>
<SupplementalOpDefList Backend="CPU"><SupplementalOpDef><Name>T</Name><Input><Name>w</Name><Datatype>INT_32</Datatype></Input>
<Output><Name>y</Name><Shape><Layout>NHWC</Layout></Shape></Output></SupplementalOpDef></SupplementalOpDefList>
</OpDefCollection>
"""

RULES = ("in0[0]", "in0[-1] * 2 + 1", "(in1[2] - 3) / 2 % 5", "min(in0[1], max(-in2[0], 7))", "--(9223372036854775807 - in0[0])",
         "(-9223372036854775807 - 1) / -in0[0]")

HEADERS = (  # of .npy files: version, text
    (1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
    (2, "{'descr': '<i8', 'fortran_order': True, 'shape': (3, 2, 1), }"),
    (3, "{'descr': '|b1', 'fortran_order': False, 'shape': (6,), }"),
    (1, "{'descr': '<f2', 'fortran_order': True, 'shape': (), }"),
    (1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807), }"),
)

LISTS = (
    "examples/image.raw\n",
    "x:=a.raw y:=b/c.raw\r\n\nx:=d.raw\ty:=:=e\n",
    "#node other\nx:=a\n",
    "% y:0\na\nb",
    "%y z\n# no comment\n",
    "\"x y\":='a b.raw' z:=c\\ d\\\\.raw\n#\"n 1\" n\\ 2\n'open",
)


def udo_configs(folder, form, whole, largest=1 << 14):
    blocks = re.findall(rf"^```{form}\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    paths = [*SOURCE.glob(f"examples/*.{form}"), *SHARED.glob(f"corpus/udo-c*/**/*.{form}")]
    texts = [whole, *blocks, *(path.read_text() for path in sorted(paths))]
    for number, text in enumerate(texts):
        if len(text) <= largest:
            (folder / f"{form}-{number}").write_text(text, encoding="utf-8")


def json_configs(folder):
    udo_configs(folder, "json", JSON)


def xml_configs(folder):
    udo_configs(folder, "xml", XML)
    (folder / "nested").write_text("<a>" * 64 + "</a>" * 64)  # as deep as is allowed
    around = '<OpDefCollection PackageName="P">%s</OpDefCollection>'

    def tag(attrs, end="/>"):
        return "<a" + "".join(f' {name}=""' for name in attrs) + end

    (folder / "names").write_text(around % "".join(tag(f"b{n:x}" for n in range(k, k + 15)) for k in range(0, 4080, 15)))
    (folder / "tag").write_text(around % (tag(f"p{n}:b{n}" for n in range(199)) * 3))
    (folder / "namespaces").write_text(around % (tag(f"xmlns:n{n}" for n in range(150)) * 3))
    (folder / "scope").write_text(around % (  # prefixes that are looked up among all
        "".join(tag((f"xmlns:n{n}" for n in range(k, k + 8)), ">") for k in range(0, 480, 8)) + "<n0:b/>" * 30 + "</a>" * 60))
    (folder / "remarks").write_text(around % "<?p <!--?><!--><![CDATA[--><a b=''/><![CDATA[<!--]]><?q ]]> <a c='?>'")


def shape_rules(folder):
    shapes = bytes([7, 1, 2, 3, 7, 4, 5, 250, 5, 9, 0, 0])
    for number, rule in enumerate(RULES):
        (folder / f"rule-{number}").write_bytes(shapes + rule.encode())


def input_lists(folder):
    for number, text in enumerate(LISTS):
        (folder / f"list-{number}").write_text(text)


def onnx_tensors():
    """Files as the ONNX project keeps test data in."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    yield numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "x")
    yield numpy_helper.from_array(np.array([True, False]))
    yield numpy_helper.from_array(np.array(["a", "bc"], dtype=object))
    yield helper.make_tensor("h", TensorProto.FLOAT16, [2], [0.5, -1.0])
    yield helper.make_tensor("i", TensorProto.INT64, [], [7])
    yield TensorProto(data_type=22, dims=[3], raw_data=b"\x81\x07")  # int4, which old versions of the package do not know
    yield helper.make_tensor("b", TensorProto.BFLOAT16, [2, 1], [1.0, 2.0])


def tensorflow_tensors():
    import numpy as np
    from tf_writer import Tensor, tensor_message
    arrays = (np.arange(6, dtype=np.float32).reshape(2, 3), np.array([True, False]), np.int64(7), np.array([b"a", b"bc"]),
              np.ones((2, 3), np.float16), np.zeros((3, 0), np.uint8))
    for array in arrays:
        for form in ("content", "values", "splat")[array.dtype.kind == "S":]:
            yield b"".join(tensor_message(Tensor(array, form)).parts)


def tensor_files(folder):
    """Two bytes say what the rest is: see fuzz_tensor_file.c."""
    for number, (version, text) in enumerate(HEADERS):
        header = text.encode() + b"\n"
        size = len(header).to_bytes(2 if version == 1 else 4, "little")
        data = b"\x93NUMPY" + bytes([version, 0]) + size + header
        for length in (48, 24, 6, 2, 0):
            (folder / f"npy-{number}-{length}").write_bytes(b"\0\0" + data + bytes(range(length)))
    for number, input_of in enumerate((2, 3, 4, 5)):
        (folder / f"raw-{number}").write_bytes(bytes([1, input_of]) + bytes((24, 8, 2, 4)[number]))
    for number, tensor in enumerate(onnx_tensors()):
        (folder / f"onnx-{number}").write_bytes(b"\2\0" + tensor.SerializeToString())
    for number, tensor in enumerate(tensorflow_tensors()):
        (folder / f"tensorflow-{number}").write_bytes(b"\3\0" + tensor)
    for which, (count, size) in enumerate(((6, 24), (4, 8), (3, 12), (5, 5), (2, 2))):
        (folder / f"floats-{which}").write_bytes(bytes([4, which]) + b"\0\0\x80?" * count)
        (folder / f"native-{which}").write_bytes(bytes([5, which]) + bytes(size))
