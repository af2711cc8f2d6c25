# SPDX-License-Identifier: Apache-2.0
"""A package of a JSON config, written as an XML OpDef collection."""

from xml.sax.saxutils import escape

TYPES = {"FIXED_4": "UFIXED_POINT_4", "FIXED_8": "UFIXED_POINT_8", "FIXED_16": "UFIXED_POINT_16"}


def element(name, content):
    return f"<{name}>{content}</{name}>"


def literal(value):
    """A default: nested lists in braces, truth as 0 and 1."""
    if isinstance(value, list):
        return "{" + ", ".join(literal(item) for item in value) + "}"
    return str(int(value)) if isinstance(value, bool) else escape(str(value))


def tensor_xml(kind, tensor, rank, position):
    """One Input, Output or Parameter; types per core come from supplements."""
    has_default = "default_value" in tensor
    parts = [element("Name", escape(tensor.get("name") or f"{kind.lower()}{position}")),
             element("Mandatory", "false" if has_default or tensor.get("optional") else "true"),
             element("Datatype", type_name(tensor["data_type"]) if "data_type" in tensor else "BACKEND_SPECIFIC"),
             element("Shape", element("Rank", rank) + element("Layout", tensor.get("tensor_layout", "UNDEFINED")))]
    if has_default:
        parts.append(element("Default", literal(tensor["default_value"])))
    if tensor.get("repeated"):
        parts.append(element("Repeated", "true"))
    if tensor.get("static"):
        parts.append(element("IsStaticTensor", "true"))
    return element(kind, "".join(parts))


def type_name(data_type):
    return "QNN_DATATYPE_" + TYPES.get(data_type, data_type)


def operands(op):
    """(element, tensor, rank, position) of everything that an operator lists."""
    for kind, member, rank in (("Input", "inputs", "ND"), ("Output", "outputs", "ND"),
                               ("Parameter", "scalar_params", "SCALAR"), ("Parameter", "tensor_params", "ND")):
        for position, tensor in enumerate(op.get(member, [])):
            yield kind, tensor, rank, position


def supplements(op, core):
    """What one core says beside the operator."""
    parts = []
    for kind, tensor, _, position in operands(op):
        if core in tensor.get("per_core_data_types", {}):
            name = escape(tensor.get("name") or f"{kind.lower()}{position}")
            data_type = element("Datatype", type_name(tensor["per_core_data_types"][core]))
            parts.append(element(kind, element("Name", name) + data_type))
    return parts


def opdef_xml(package):
    ops, extra = [], []
    for op in package["Operators"]:
        parts = [element("Name", escape(op["type"]))]
        parts += [tensor_xml(*operand) for operand in operands(op)]
        parts += [element("SupportedBackend", core) for core in op.get("core_types", [])]
        ops.append(element("OpDef", "\n".join(parts)))
        for core in op.get("core_types", []):
            said = supplements(op, core)
            if said:
                content = element("SupplementalOpDef", element("Name", escape(op["type"])) + "".join(said))
                extra.append(f'<SupplementalOpDefList Backend="{core}">{content}</SupplementalOpDefList>')
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<OpDefCollection PackageName="{package["UDO_PACKAGE_NAME"]}" '
            f'Domain="aisw" Version="1.0">\n{element("OpDefList", "".join(ops))}\n{"".join(extra)}</OpDefCollection>\n')
