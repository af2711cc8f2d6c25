/* From definitions to the names of templates. */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <strings.h>

#include "gen/gen.h"
#include "udo/udo_cores.h"

struct describe {
    struct arena *arena;
    struct diags *diags;
    size_t errors;
};

/* ---- names ---- */

/* C++'s words that no package, op or param may have as its name. */
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
    return is_reserved(out) ? arena_printf(arena, "%s_op", out) : out;
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

/* A text for a string literal or a comment in C++. */
static const char *quoted(struct arena *arena, const char *name)
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

static enum dtype type_on(const struct udo_tensor *t, enum udo_core core)
{
    return t->per_core && t->core_dtypes[core] ? t->core_dtypes[core] : t->dtype;
}

/* ".type(SNPE_UDO_CORETYPE_CPU, SNPE_UDO_DATATYPE_FLOAT_32)" for each core */
static const char *types(struct arena *arena, const struct udo_def *def, const struct udo_tensor *t)
{
    text out = {0};
    text_add(arena, &out, "%s", "");
    for (uint32_t core = 0; core < UDO_CORES; core++)
        if (def->cores >> core & 1)
            text_add(arena, &out, "\n        .type(SNPE_UDO_CORETYPE_%s, %s)", udo_core_names[core],
                     udo_type(arena, type_on(t, core)));
    return out.data;
}

/* ---- operands ---- */

static const char *type_words(const struct udo_tensor *t)
{
    return t->dtype && dtype_info(t->dtype)->udo ? dtype_info(t->dtype)->udo : "the model's type";
}

static void comment(struct scope *op, const char *line)
{
    scope_set(scope_add(op, "lines"), "LINE", line);
}

static void comment_operand(struct describe *d, struct scope *op, const char *kind, uint32_t i,
                            const struct udo_tensor *t)
{
    static const char *const words[] = {
        [UDO_LAYOUT_NONE] = "", [UDO_LAYOUT_NHWC] = ", NHWC", [UDO_LAYOUT_NCHW] = ", NCHW"};
    comment(op, arena_printf(d->arena, "  %s %u%s%s: %s%s%s%s%s%s%s", kind, i, t->name && *t->name ? ", " : "",
                             t->name ? quoted(d->arena, t->name) : "", type_words(t), t->rank ? ", " : "",
                             t->rank ? quoted(d->arena, t->rank) : "", words[t->layout], t->is_static ? ", static" : "",
                             t->optional ? ", may be absent: rank 0, data NULL" : "",
                             t->repeated ? ", and all that follow" : ""));
}

static void describe_operands(struct describe *d, const struct udo_def *def, struct scope *op, bool outputs)
{
    const struct udo_tensor *all = outputs ? def->outputs : def->inputs;
    const uint32_t count = outputs ? def->n_outputs : def->n_inputs;
    uint32_t least = 0;
    bool open = false;
    for (uint32_t i = 0; i < count; i++) {
        struct scope *s = scope_add(op, outputs ? "outputs" : "inputs");
        scope_set(s, "NAME", all[i].name ? quoted(d->arena, all[i].name) : "");
        scope_set(s, "LAYOUT", layouts[all[i].layout]);
        scope_set(s, "STATIC", all[i].is_static ? "true" : "false");
        scope_set(s, "REPEATED", all[i].repeated ? "true" : "false");
        scope_set(s, "TYPES", types(d->arena, def, &all[i]));
        comment_operand(d, op, outputs ? "output" : "input", i, &all[i]);
        least += !all[i].repeated;
        open = open || all[i].repeated;
    }
    scope_set(op, outputs ? "N_OUTPUTS" : "N_INPUTS", arena_printf(d->arena, "%u", least));
    scope_set(op, outputs ? "OPEN_OUTPUTS" : "OPEN_INPUTS", open ? "1" : "");
}

/* ---- params ---- */

static struct scope *add_param(struct describe *d, struct scope *op, uint32_t i, const char *name, const char *add)
{
    struct scope *s = scope_add(op, "params");
    scope_set(s, "NAME", quoted(d->arena, name));
    scope_set(s, "ID", arena_printf(d->arena, "param%u", i));
    scope_set(s, "ADD", add);
    return s;
}

static void describe_scalars(struct describe *d, const struct udo_def *def, struct scope *op)
{
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *p = &def->scalar_params[i];
        const char *name = quoted(d->arena, p->name);
        const bool string = p->dtype == DT_STRING;
        add_param(d, op, i, p->name,
                  string ? arena_printf(d->arena, "addStringParam(\"%s\")", name)
                         : arena_printf(d->arena, "addScalarParam(\"%s\", %s)", name, udo_type(d->arena, p->dtype)));
        const char *form = "  param %s, %s: backend_utils::get%sParam(operation->getParam(\"%s\"))";
        comment(op,
                arena_printf(d->arena, form, name, dtype_info(p->dtype)->udo ? dtype_info(p->dtype)->udo : "a number",
                             string ? "String" : "Scalar", name));
    }
}

static void describe_tensor_params(struct describe *d, const struct udo_def *def, struct scope *op)
{
    for (uint32_t i = 0; i < def->n_tensor_params; i++) {
        const struct udo_tensor *p = &def->tensor_params[i];
        const char *name = quoted(d->arena, p->name);
        add_param(d, op, def->n_scalar_params + i, p->name,
                  arena_printf(d->arena, "addTensorParam(\"%s\", %s, %s)", name, udo_type(d->arena, p->dtype),
                               layouts[p->layout]));
        const char *form = "  param %s, elements %s: backend_utils::getTensorParam(operation->getParam(\"%s\"))->data";
        comment(op, arena_printf(d->arena, form, name, type_words(p), name));
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

static bool is_legacy_arch(const char *arch)
{
    return strcasecmp(arch, "v60") == 0 || strcasecmp(arch, "v65") == 0 || strcasecmp(arch, "v66") == 0;
}

/* Marks what the op adds to the package's cores. */
static void mark_cores(const struct udo_def *def, struct scope *package)
{
    for (uint32_t core = 0; core < UDO_CORES; core++)
        if (def->cores >> core & 1)
            scope_set(package, udo_core_names[core], "1");
    bool legacy = false;
    for (uint32_t i = 0; i < def->n_dsp_arch_types; i++)
        legacy = legacy || is_legacy_arch(def->dsp_arch_types[i]);
    if (def->cores >> UDO_DSP & 1)
        scope_set(package, legacy ? "DSP_LEGACY" : "DSP_V68", "1");
}

static void add_op(struct describe *d, struct gen_package *package, const struct udo_def *def)
{
    for (size_t i = 0; i < package->ops.count; i++)
        if (strcmp(scope_get(package->ops.data[i], "OP"), def->type) == 0)
            return; /* of another domain, and the same for a package */
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
}

static struct gen_package *package_of(struct describe *d, struct gen_packages *out, const struct udo_def *def)
{
    static const char *const unset[] = {"CPU", "GPU", "DSP", "DSP_LEGACY", "DSP_V68"};
    for (size_t i = 0; i < out->list.count; i++)
        if (strcmp(out->list.data[i].name, def->package) == 0)
            return &out->list.data[i];
    struct gen_package package = {.name = def->package, .scope = scope_new(d->arena, NULL), .config = def->place.file};
    check_identifier(d, &def->place, "package name", def->package);
    scope_set(package.scope, "PACKAGE", def->package);
    for (size_t i = 0; i < COUNT_OF(unset); i++)
        scope_set(package.scope, unset[i], "");
    vec_push(d->arena, &out->list, package);
    return &out->list.data[out->list.count - 1];
}

odlc_status gen_describe(struct udo_set *set, struct gen_packages *out)
{
    struct describe d = {.arena = set->arena, .diags = set->diags};
    for (size_t i = 0; i < set->defs.count; i++)
        add_op(&d, package_of(&d, out, set->defs.data[i]), set->defs.data[i]);
    return d.errors ? ODLC_ERR_INVALID : ODLC_OK;
}
