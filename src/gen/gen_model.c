/* SPDX-License-Identifier: Apache-2.0 */
/* From definitions to the names of templates. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "gen/gen_model.h"
#include "udo/udo_cores.h"

/* ---- names ---- */

/* Words of C++, and functions of C that are there everywhere: an op's namespace has another name. */
static bool is_reserved(const char *name)
{
    static const char *const words[] = {
        "alignas",  "alignof",  "and",      "asm",       "auto",     "bool",      "break",   "case",   "catch",
        "char",     "class",    "const",    "continue",  "default",  "delete",    "do",      "double", "else",
        "enum",     "explicit", "export",   "extern",    "false",    "float",     "for",     "friend", "goto",
        "if",       "inline",   "int",      "long",      "mutable",  "namespace", "new",     "not",    "nullptr",
        "operator", "or",       "private",  "protected", "public",   "register",  "return",  "short",  "signed",
        "sizeof",   "static",   "struct",   "switch",    "template", "this",      "throw",   "true",   "try",
        "typedef",  "typeid",   "typename", "union",     "unsigned", "using",     "virtual", "void",   "volatile",
        "while",    "xor",      "std",      "qnn",
    };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

/* Functions of C that an op's namespace, in lower case, would redeclare: headers of C++ put them beside it. */
static bool is_function(const char *name)
{
    static const char *const names[] = {
        "abort",     "abs",    "access",  "acos",        "acosh",  "asin",     "asinh",     "atan",    "atan2",
        "atanh",     "cbrt",   "ceil",    "clock",       "close",  "copysign", "cos",       "cosh",    "div",
        "drem",      "dup",    "erf",     "erfc",        "exit",   "exp",      "exp10",     "exp2",    "expm1",
        "fabs",      "fdim",   "finite",  "floor",       "fma",    "fmax",     "fmin",      "fmod",    "free",
        "frexp",     "gamma",  "hypot",   "ilogb",       "index",  "isfinite", "isinf",     "isnan",   "isnormal",
        "j0",        "j1",     "jn",      "ldexp",       "lgamma", "link",     "llrint",    "llround", "log",
        "log10",     "log1p",  "log2",    "logb",        "lrint",  "lround",   "modf",      "nan",     "nearbyint",
        "nextafter", "pause",  "pipe",    "pow",         "pow10",  "rand",     "random",    "read",    "remainder",
        "remove",    "remquo", "rename",  "rindex",      "rint",   "round",    "roundeven", "scalb",   "scalbn",
        "select",    "signal", "signbit", "significand", "sin",    "sincos",   "sinh",      "sleep",   "sqrt",
        "swab",      "sync",   "system",  "tan",         "tanh",   "tgamma",   "time",      "trunc",   "truncate",
        "write",     "y0",     "y1",      "yn",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return true;
}

static void check_identifier(struct describe *d, const struct udo_place *place, const char *kind, const char *name)
{
    if (is_identifier(name))
        return;
    d->errors++;
    struct odlc_diag at = udo_at(place, "letters, digits and _ make a name in C++");
    (void)diag_error(d->diags, ODLC_ERR_INVALID, &at, "gen-name", "%s '%s' cannot be a name in the package's sources",
                     kind, name);
}

static const char *lower(struct arena *arena, const char *name)
{
    char *out = arena_strdup(arena, name);
    for (char *c = out; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return is_reserved(out) || is_function(out) ? arena_printf(arena, "%s_op", out) : out;
}

/* "my_op" → "MyOp", "MyCamelOp" → "Mycamelop" */
static const char *capitalized(struct arena *arena, const char *name)
{
    text out = {0};
    text_add(arena, &out, "%s", "");
    for (bool first = true; *name; name++) {
        if (*name != '_')
            text_add(arena, &out, "%c", first ? toupper((unsigned char)*name) : tolower((unsigned char)*name));
        first = *name == '_';
    }
    return out.data;
}

const char *gen_quoted(struct arena *arena, const char *name)
{
    text out = {0};
    text_add(arena, &out, "%s", "");
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        if (c == '"' || c == '\\')
            text_add(arena, &out, "\\%c", c);
        else if (c < ' ' || c > '~')
            text_add(arena, &out, "\\%03o", c);
        else
            text_add(arena, &out, "%c", c);
    }
    return out.data;
}

/* ---- types and layouts, as the registration interface calls them ---- */

static const char *udo_type(struct arena *arena, enum dtype dtype)
{
    static const struct {
        enum dtype dtype;
        const char *name;
    } others[] = {{DT_UINT64, "ODLC_UDO_DATATYPE_UINT_64"}, {DT_INT64, "ODLC_UDO_DATATYPE_INT_64"},
                  {DT_BOOL, "ODLC_UDO_DATATYPE_BOOL_8"},    {DT_FLOAT64, "ODLC_UDO_DATATYPE_FLOAT_64"},
                  {DT_STRING, "ODLC_UDO_DATATYPE_STRING"},  {DT_NONE, "SNPE_UDO_DATATYPE_FLOAT_32"}};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (others[i].dtype == dtype)
            return others[i].name;
    return arena_printf(arena, "SNPE_UDO_DATATYPE_%s", dtype_info(dtype)->udo ? dtype_info(dtype)->udo : "FLOAT_32");
}

static const char *const layouts[] = {[UDO_LAYOUT_NONE] = "ODLC_UDO_LAYOUT_OTHER",
                                      [UDO_LAYOUT_NHWC] = "SNPE_UDO_LAYOUT_NHWC",
                                      [UDO_LAYOUT_NCHW] = "ODLC_UDO_LAYOUT_NCHW"};

enum dtype gen_type_on(const struct udo_tensor *t, enum udo_core core)
{
    return t->per_core && t->core_dtypes[core] ? t->core_dtypes[core] : t->dtype;
}

/* ".type(SNPE_UDO_CORETYPE_CPU, SNPE_UDO_DATATYPE_FLOAT_32)" for each core, or a list of initializers in C */
static const char *types(struct describe *d, const struct udo_def *def, const struct udo_tensor *t)
{
    static const char *const forms[] = {
        [GEN_CPP] = "\n        .type(SNPE_UDO_CORETYPE_%s, %s)", [GEN_C] = "{SNPE_UDO_CORETYPE_%s, %s}, "};
    text out = {0};
    text_add(d->arena, &out, "%s", "");
    for (uint32_t core = 0; core < UDO_CORES; core++)
        if (def->cores >> core & 1)
            text_add(d->arena, &out, forms[d->language], udo_core_names[core],
                     udo_type(d->arena, gen_type_on(t, core)));
    return out.data;
}

/* ---- operands ---- */

const char *gen_type_name(enum dtype dtype, const char *otherwise)
{
    return dtype && dtype_info(dtype)->udo ? dtype_info(dtype)->udo : otherwise;
}

static const char *type_words(const struct udo_tensor *t)
{
    return gen_type_name(t->dtype, "the model's type");
}

void gen_comment(struct scope *op, const char *list, const char *line)
{
    scope_set(scope_add(op, list), "LINE", line);
}

static void comment_operand(struct describe *d, struct scope *op, const char *kind, uint32_t i,
                            const struct udo_tensor *t)
{
    static const char *const words[] = {
        [UDO_LAYOUT_NONE] = "", [UDO_LAYOUT_NHWC] = ", NHWC", [UDO_LAYOUT_NCHW] = ", NCHW"};
    gen_comment(op, "lines",
                arena_printf(d->arena, "  %s %u%s%s: %s%s%s%s%s%s%s", kind, i, t->name && *t->name ? ", " : "",
                             t->name ? gen_quoted(d->arena, t->name) : "", type_words(t), t->rank ? ", " : "",
                             t->rank ? gen_quoted(d->arena, t->rank) : "", words[t->layout],
                             t->is_static ? ", static" : "", t->optional ? ", may be absent: rank 0, data NULL" : "",
                             t->repeated ? ", and all that follow" : ""));
}

/* How many operands a node has: n of them, or where one is repeated at least as many; it leaves out optional ones at
 * the end. */
static void describe_count(struct describe *d, struct scope *op, const struct udo_tensor *all, uint32_t count,
                           bool outputs)
{
    const char *const *names = (const char *const[2][7]){
        {"N_INPUTS", "LEAST_INPUTS", "OPEN_INPUTS", "FEWER_INPUTS", "ABSENT_INPUTS", "SURE_INPUTS", "MORE_INPUTS"},
        {"N_OUTPUTS", "LEAST_OUTPUTS", "OPEN_OUTPUTS", "FEWER_OUTPUTS", "ABSENT_OUTPUTS", "SURE_OUTPUTS",
         "MORE_OUTPUTS"}}[outputs];
    bool open = false;
    for (uint32_t i = 0; i < count; i++)
        open = open || all[i].repeated;
    uint32_t least = count - open;
    while (!open && least > 0 && all[least - 1].optional && !all[least - 1].default_value)
        least--;
    const bool absent = !open && least < count;
    scope_set(op, names[0], arena_printf(d->arena, "%u", count));
    scope_set(op, names[1], least ? arena_printf(d->arena, "%u", least) : "");
    scope_set(op, names[2], open ? "1" : "");
    scope_set(op, names[3], open || absent ? "1" : "");
    scope_set(op, names[4], absent ? "1" : "");
    scope_set(op, names[5], arena_printf(d->arena, "%u", least));
    scope_set(op, names[6], open || absent ? "true" : "false");
    if (absent)
        scope_set(op, "ABSENT_OPERANDS", "1");
}

static void describe_operands(struct describe *d, const struct udo_def *def, struct scope *op, bool outputs)
{
    const struct udo_tensor *all = outputs ? def->outputs : def->inputs;
    const uint32_t count = outputs ? def->n_outputs : def->n_inputs;
    for (uint32_t i = 0; i < count; i++) {
        struct scope *s = scope_add(op, outputs ? "outputs" : "inputs");
        scope_set(s, "NAME", all[i].name ? gen_quoted(d->arena, all[i].name) : "");
        scope_set(s, "LAYOUT", layouts[all[i].layout]);
        scope_set(s, "STATIC", all[i].is_static ? "true" : "false");
        scope_set(s, "REPEATED", all[i].repeated ? "true" : "false");
        scope_set(s, "TYPES", types(d, def, &all[i]));
        comment_operand(d, op, outputs ? "output" : "input", i, &all[i]);
    }
    describe_count(d, op, all, count, outputs);
}

/* ---- params ---- */

enum param_form { FORM_SCALAR, FORM_STRING, FORM_TENSOR };

/* In each language: the param's kind, what the registration library has of it, and how an op's source reads it. */
static const struct {
    const char *kind, *add, *read;
} param_words[][2] = {
    [FORM_SCALAR] = {[GEN_CPP] = {"", "addScalarParam(\"%s\", %s)",
                                  "backend_utils::getScalarParam(operation->getParam(\"%s\"))"},
                     [GEN_C] = {"ODLC_CPU_PARAM_SCALAR",
                                "{.paramType = SNPE_UDO_PARAMTYPE_SCALAR, .paramName = \"%s\", .scalarParam = "
                                "{.dataType = %s}}",
                                "customOpScalar(op, \"%s\")"}},
    [FORM_STRING] = {[GEN_CPP] = {"", "addStringParam(\"%s\")",
                                  "backend_utils::getStringParam(operation->getParam(\"%s\"))"},
                     [GEN_C] = {"ODLC_CPU_PARAM_STRING",
                                "{.paramType = SNPE_UDO_PARAMTYPE_STRING, .paramName = \"%s\"}",
                                "customOpString(op, \"%s\")"}},
    [FORM_TENSOR] = {[GEN_CPP] = {"", "addTensorParam(\"%s\", %s, %s)",
                                  "backend_utils::getTensorParam(operation->getParam(\"%s\"))->data"},
                     [GEN_C] = {"ODLC_CPU_PARAM_TENSOR",
                                "{.paramType = SNPE_UDO_PARAMTYPE_TENSOR, .paramName = \"%s\", .tensorParam = "
                                "{.dataType = %s, .layout = %s}}",
                                "customOpTensor(op, \"%s\")->data"}},
};
static const char *const absent_param[] = {
    [GEN_CPP] = ", may be absent: getParam gives NULL", [GEN_C] = ", may be absent: customOpParam gives NULL"};

struct param_text {
    enum param_form form;
    const char *name;
    const char *words; /* of the comment */
    const char *type, *layout;
    bool optional;
};

static void add_param(struct describe *d, struct scope *op, uint32_t i, const struct param_text *p)
{
    const char *name = gen_quoted(d->arena, p->name);
    struct scope *s = scope_add(op, "params");
    scope_set(s, "NAME", name);
    scope_set(s, "ID", arena_printf(d->arena, "param%u", i));
    scope_set(s, "OPTIONAL", p->optional ? "1" : "");
    scope_set(s, "KIND", param_words[p->form][d->language].kind);
    scope_set(s, "ADD", arena_printf(d->arena, param_words[p->form][d->language].add, name, p->type, p->layout));
    const char *read = arena_printf(d->arena, param_words[p->form][d->language].read, name);
    gen_comment(op, "cpu_lines",
                arena_printf(d->arena, "  param %s, %s: %s%s", name, p->words, read,
                             p->optional ? absent_param[d->language] : ""));
}

static void describe_scalars(struct describe *d, const struct udo_def *def, struct scope *op)
{
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *p = &def->scalar_params[i];
        add_param(d, op, i,
                  &(struct param_text){.form = p->dtype == DT_STRING ? FORM_STRING : FORM_SCALAR,
                                       .name = p->name,
                                       .words = gen_type_name(p->dtype, "a number"),
                                       .type = udo_type(d->arena, p->dtype),
                                       .optional = p->optional && !p->default_value});
    }
}

static void describe_tensor_params(struct describe *d, const struct udo_def *def, struct scope *op)
{
    for (uint32_t i = 0; i < def->n_tensor_params; i++) {
        const struct udo_tensor *p = &def->tensor_params[i];
        add_param(d, op, def->n_scalar_params + i,
                  &(struct param_text){.form = FORM_TENSOR,
                                       .name = p->name,
                                       .words = arena_printf(d->arena, "elements %s", type_words(p)),
                                       .type = udo_type(d->arena, p->dtype),
                                       .layout = layouts[p->layout],
                                       .optional = p->optional && !p->default_value});
    }
}

/* ---- ops and packages ---- */

static void describe_cores(struct describe *d, const struct udo_def *def, struct scope *op)
{
    static const char *const computes[] = {"SNPE_UDO_DATATYPE_FLOAT_32", "SNPE_UDO_DATATYPE_FLOAT_16",
                                           "SNPE_UDO_DATATYPE_FIXED_8"};
    for (uint32_t core = 0; core < UDO_CORES; core++) {
        if (!(def->cores >> core & 1))
            continue;
        struct scope *s = scope_add(op, "cores");
        scope_set(s, "CORE", arena_printf(d->arena, "SNPE_UDO_CORETYPE_%s", udo_core_names[core]));
        scope_set(s, "CORE_TYPES", computes[core]);
    }
}

bool gen_is_legacy_arch(const char *arch)
{
    return strcasecmp(arch, "v60") == 0 || strcasecmp(arch, "v65") == 0 || strcasecmp(arch, "v66") == 0;
}

/* Marks what the op adds to the package's cores. */
static void mark_cores(const struct udo_def *def, struct scope *package)
{
    for (uint32_t core = 0; core < UDO_CORES; core++)
        if (def->cores >> core & 1)
            scope_set(package, udo_core_names[core], "1");
}

const struct udo_def *gen_find_op(const struct gen_package *package, const char *type)
{
    for (size_t i = 0; i < package->defs.count; i++)
        if (strcmp(package->defs.data[i]->type, type) == 0)
            return package->defs.data[i];
    return NULL;
}

struct scope *gen_add_op(struct describe *d, struct gen_package *package, const struct udo_def *def)
{
    struct scope *op = scope_add(package->scope, "ops");
    check_identifier(d, &def->place, "op type", def->type);
    scope_set(op, "OP", def->type);
    scope_set(op, "op", lower(d->arena, def->type));
    scope_set(op, "Op", capitalized(d->arena, def->type));
    describe_cores(d, def, op);
    describe_operands(d, def, op, false);
    describe_operands(d, def, op, true);
    describe_scalars(d, def, op);
    describe_tensor_params(d, def, op);
    mark_cores(def, package->scope);
    vec_push(d->arena, &package->ops, op);
    vec_push(d->arena, &package->defs, def);
    return op;
}

const char *gen_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Configs are copied into one folder of the package. */
static void add_config(struct describe *d, struct gen_package *package, const struct udo_place *place)
{
    for (size_t i = 0; i < package->configs.count; i++) {
        const char *other = package->configs.data[i];
        if (strcmp(other, place->file) == 0)
            return;
        if (strcmp(gen_base(other), gen_base(place->file)) != 0)
            continue;
        d->errors++;
        (void)diag_error(d->diags, ODLC_ERR_INVALID,
                         AT(.file = place->file, .hint = "rename one: both are copied into the package"), "gen-config",
                         "package %s has another config of that file name, %s", package->name, other);
    }
    vec_push(d->arena, &package->configs, place->file);
}

struct gen_package *gen_package_of(struct describe *d, struct gen_packages *out, const char *name, enum gen_tree tree,
                                   const struct udo_def *def)
{
    static const char *const unset[] = {"CPU", "GPU", "DSP", "DSP_LEGACY", "DSP_V68"};
    size_t i = 0;
    while (i < out->list.count && strcmp(out->list.data[i].name, name) != 0)
        i++;
    if (i == out->list.count) {
        struct gen_package package = {.name = name, .tree = tree, .scope = scope_new(d->arena, NULL)};
        check_identifier(d, &def->place, "package name", name);
        scope_set(package.scope, "PACKAGE", name);
        for (size_t k = 0; k < COUNT_OF(unset); k++)
            scope_set(package.scope, unset[k], "");
        vec_push(d->arena, &out->list, package);
    }
    add_config(d, &out->list.data[i], &def->place);
    return &out->list.data[i];
}
