/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions as an XML OpDef collection, in the order of elements that the schema asks for. */
#include <string.h>

#include "udo/param_value.h"
#include "udo/udo_cores.h"
#include "udo/udo_write.h"

enum role { INPUT, OUTPUT, PARAM };

static const char *const elements[] = {"Input", "Output", "Parameter"};

static void put_text(struct udo_writer *w, const char *string)
{
    for (const char *c = string; *c; c++) {
        if (*c == '&')
            text_add(w->arena, &w->out, "&amp;");
        else if (*c == '<')
            text_add(w->arena, &w->out, "&lt;");
        else if (*c == '>')
            text_add(w->arena, &w->out, "&gt;");
        else if (*c == '"')
            text_add(w->arena, &w->out, "&quot;");
        else
            text_add_bytes(w->arena, &w->out, c, 1);
    }
}

/* Whether a text comes back from XML as it is: white space around it does not, nor do most control characters. */
static bool is_writable(const char *string)
{
    size_t length = strlen(string);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)string[i] < 0x20)
            return false;
    return length && string[0] != ' ' && string[length - 1] != ' ';
}

static void check_text(struct udo_writer *w, const struct udo_place *place, const char *what, const char *string)
{
    if (!is_writable(string))
        write_impossible(w, place, "%s '%s' has blanks at its ends, or control characters, which XML does not keep",
                         what, string);
}

static void put_element(struct udo_writer *w, int level, const char *name, const char *content)
{
    text_add(w->arena, &w->out, "%*s<%s>", level * 2, "", name);
    put_text(w, content);
    text_add(w->arena, &w->out, "</%s>\n", name);
}

/* ---- types ---- */

static const char *type_word(struct udo_writer *w, enum dtype dtype)
{
    if (dtype_is_fixed(dtype))
        return arena_printf(w->arena, "QNN_DATATYPE_%cFIXED_POINT_%s", dtype_info(dtype)->cls == CLASS_SFXP ? 'S' : 'U',
                            strchr(dtype_info(dtype)->display, '_') + 1);
    return arena_printf(w->arena, "QNN_DATATYPE_%s", udo_type_name(dtype));
}

/* The first type leads the others. */
static void put_types(struct udo_writer *w, int level, enum dtype dtype, uint64_t several)
{
    put_element(w, level, "Datatype", type_word(w, dtype));
    for (int i = DT_NONE + 1; i < DT_COUNT; i++)
        if (several & DTYPE_BIT(i) && (enum dtype)i != dtype)
            put_element(w, level, "Datatype", type_word(w, (enum dtype)i));
}

/* The types of an operand. */
struct types {
    const struct udo_place *place;
    enum dtype dtype;
    uint64_t several;
    bool per_core;
    const enum dtype *core_dtypes;
};

static struct types types_of_tensor(const struct udo_tensor *t)
{
    return (struct types){&t->place, t->dtype, t->several, t->per_core, t->core_dtypes};
}

static struct types types_of_scalar(const struct udo_scalar *p)
{
    return (struct types){&p->place, p->dtype, p->several, p->per_core, p->core_dtypes};
}

/* The cores whose types supplements give. */
static uint32_t table_cores(const struct types *t)
{
    uint32_t mask = 0;
    for (int core = 0; core < UDO_CORES && t->per_core; core++)
        mask |= t->core_dtypes[core] == DT_NONE ? 0 : 1u << core;
    return mask;
}

/* Whether cores take different types, which supplements give. */
static bool differ(const struct types *t)
{
    for (int core = 0; core < UDO_CORES && t->per_core; core++)
        if (t->core_dtypes[core] != DT_NONE && t->core_dtypes[core] != t->dtype)
            return true;
    return false;
}

static bool types_differ(const struct udo_tensor *t)
{
    const struct types types = types_of_tensor(t);
    return differ(&types);
}

static void check_table(struct udo_writer *w, const struct udo_def *def, const struct types *t, const char *label)
{
    uint32_t table = table_cores(t);
    if (table & ~def->cores)
        write_impossible(w, t->place, "%s has a type for a core that core_types does not list", label);
    else if (t->per_core && !differ(t))
        write_lost(w, t->place, "%s has the same type for all cores; XML gives it one type", label);
    else if (t->per_core && table != def->cores)
        write_lost(w, t->place, "%s has no type for some core; XML gives it %s there", label, udo_type_name(t->dtype));
}

/* The types in the OpDef itself. */
static void put_own_types(struct udo_writer *w, const struct udo_def *def, const struct types *t, const char *label)
{
    check_table(w, def, t, label);
    if (differ(t) && table_cores(t) == def->cores)
        put_element(w, 4, "Datatype", "BACKEND_SPECIFIC");
    else
        put_types(w, 4, t->dtype, t->several);
}

/* ---- values ---- */

/* A string in a list is quoted, with the quote that it does not hold. */
static void put_quoted(struct udo_writer *w, const char *string)
{
    const char *quote = strchr(string, '"') ? "'" : "\"";
    put_text(w, quote);
    put_text(w, string);
    put_text(w, quote);
}

static void put_leaf(struct udo_writer *w, const struct param *value, uint64_t k)
{
    if (value->dtype == DT_STRING)
        put_quoted(w, value->strings[k]);
    else
        write_number(w, value, k);
}

static void check_string(struct udo_writer *w, const struct udo_place *place, const char *label, const char *string)
{
    bool control = false;
    for (const char *c = string; *c; c++)
        control = control || (unsigned char)*c < 0x20;
    if (control)
        write_impossible(w, place, "a string in the default of %s holds control characters", label);
    else if (strchr(string, '"') && strchr(string, '\''))
        write_impossible(w, place, "a string in the default of %s holds both quotes, and needs one around it", label);
}

/* A string alone is the whole text, unless blanks at its ends or a quote before it ask for quotes. */
static void put_string(struct udo_writer *w, const struct udo_place *place, const char *label, const char *string)
{
    size_t length = strlen(string);
    bool plain = length && (!strchr(" \"'", string[0]) && string[length - 1] != ' ');
    if (plain && !strpbrk(string, "\t\n\r")) {
        put_text(w, string);
        return;
    }
    check_string(w, place, label, string);
    if (strchr(string, '"'))
        write_impossible(w, place, "the default of %s holds a quote, and needs quotes around it", label);
    put_quoted(w, string);
}

static void put_default(struct udo_writer *w, const struct udo_place *place, const char *label,
                        const struct param *value)
{
    bool is_string = value->dtype == DT_STRING;
    uint64_t count = is_string && value->is_tensor ? shape_count(&value->shape) : 0;
    for (uint64_t k = 0; k < count; k++)
        check_string(w, place, label, value->strings[k]);
    text_add(w->arena, &w->out, "        <Default>");
    if (is_string && !value->is_tensor)
        put_string(w, place, label, value->s);
    else
        write_nested(w, value, "{}", put_leaf);
    text_add(w->arena, &w->out, "</Default>\n");
}

/* ---- operands ---- */

static const char *name_of(struct udo_writer *w, const struct udo_tensor *t, enum role role, uint32_t i)
{
    static const char *const prefixes[] = {"in", "out", "param"};
    return t->name ? t->name : arena_printf(w->arena, "%s%u", prefixes[role], i);
}

static void check_only_default(struct udo_writer *w, const struct udo_place *place, const char *label,
                               const char *only_default)
{
    if (only_default)
        write_lost(w, place, "<OnlyDefaultSupported> of %s is not written", label);
}

static void check_tensor(struct udo_writer *w, const struct udo_tensor *t, const char *label)
{
    check_only_default(w, &t->place, label, t->only_default);
    if (t->name)
        check_text(w, &t->place, "the name", t->name);
    else
        write_lost(w, &t->place, "%s has no name; XML gives it one", label);
    if (t->unresolved)
        write_impossible(w, &t->place, "the %s of %s is BACKEND_SPECIFIC, and nothing says what it is", t->unresolved,
                         label);
    else if (t->dtype == DT_NONE && !t->per_core)
        write_impossible(w, &t->place, "%s has no data_type, and XML does not go without", label);
    if (t->unused_default)
        write_lost(w, &t->place, "the <Default> of %s, which must be given, is not written", label);
    if (t->quantization_mode)
        write_lost(w, &t->place, "the quantization_mode of %s is not written", label);
    if (t->same_as || t->shape)
        write_lost(w, &t->place, "the shape rule of %s is not written", label);
}

static void put_shape(struct udo_writer *w, const char *rank, enum udo_layout layout, const char *remark)
{
    static const char *const layouts[] = {NULL, "NHWC", "NCHW"};
    text_add(w->arena, &w->out, "        <Shape>\n");
    put_element(w, 5, "Rank", rank);
    if (layout != UDO_LAYOUT_NONE)
        put_element(w, 5, "Layout", layouts[layout]);
    if (remark)
        put_element(w, 5, "Text", remark);
    text_add(w->arena, &w->out, "        </Shape>\n");
}

static void put_enumeration(struct udo_writer *w, const struct udo_words *words)
{
    if (!words->count)
        return;
    text_add(w->arena, &w->out, "        <Enumeration>\n");
    for (uint32_t i = 0; i < words->count; i++)
        put_element(w, 5, "Enum", words->words[i]);
    text_add(w->arena, &w->out, "        </Enumeration>\n");
}

static void put_tensor(struct udo_writer *w, const struct udo_def *def, const struct udo_tensor *t, enum role role,
                       uint32_t i)
{
    static const char *const kinds[] = {"input", "output", "param"};
    const char *label = write_label(w, def, kinds[role], i, t->name);
    const struct types types = types_of_tensor(t);
    check_tensor(w, t, label);
    text_add(w->arena, &w->out, "      <%s>\n", elements[role]);
    put_element(w, 4, "Name", name_of(w, t, role, i));
    put_element(w, 4, "Mandatory", t->optional || t->default_value ? "false" : "true");
    put_own_types(w, def, &types, label);
    put_shape(w, t->rank ? t->rank : "ND", t->layout, t->shape_text);
    if (t->default_value)
        put_default(w, &t->place, label, t->default_value);
    put_enumeration(w, &t->enumeration);
    if (t->repeated)
        put_element(w, 4, "Repeated", "true");
    if (t->is_static)
        put_element(w, 4, "IsStaticTensor", "true");
    text_add(w->arena, &w->out, "      </%s>\n", elements[role]);
}

static void put_scalar(struct udo_writer *w, const struct udo_def *def, const struct udo_scalar *p, uint32_t i)
{
    const char *label = write_label(w, def, "param", i, p->name);
    const struct types types = types_of_scalar(p);
    check_text(w, &p->place, "the name", p->name);
    check_only_default(w, &p->place, label, p->only_default);
    if (p->unresolved)
        write_impossible(w, &p->place, "the %s of %s is BACKEND_SPECIFIC, and nothing says what it is", p->unresolved,
                         label);
    if (p->unused_default)
        write_lost(w, &p->place, "the <Default> of %s, which must be given, is not written", label);
    text_add(w->arena, &w->out, "      <Parameter>\n");
    put_element(w, 4, "Name", p->name);
    put_element(w, 4, "Mandatory", p->optional || p->default_value ? "false" : "true");
    put_own_types(w, def, &types, label);
    put_shape(w, "SCALAR", UDO_LAYOUT_NONE, NULL);
    if (p->default_value)
        put_default(w, &p->place, label, p->default_value);
    put_enumeration(w, &p->enumeration);
    text_add(w->arena, &w->out, "      </Parameter>\n");
}

/* Supplements give the types of cores by name. */
static void check_names(struct udo_writer *w, const struct udo_tensor *tensors, uint32_t count, enum role role)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count && types_differ(&tensors[i]); k++)
            if (k != i && strcmp(name_of(w, &tensors[i], role, i), name_of(w, &tensors[k], role, k)) == 0) {
                write_impossible(
                    w, &tensors[i].place,
                    "there are two %ss '%s', of which one has types of its own for cores, which XML finds by name",
                    elements[role], name_of(w, &tensors[i], role, i));
                break;
            }
}

static void put_tensors(struct udo_writer *w, const struct udo_def *def, const struct udo_tensor *tensors,
                        uint32_t count, enum role role)
{
    check_names(w, tensors, count, role);
    for (uint32_t i = 0; i < count; i++)
        put_tensor(w, def, &tensors[i], role, i);
}

/* ---- operations ---- */

static void check_operation(struct udo_writer *w, const struct udo_def *def)
{
    check_text(w, &def->place, "the type", def->type);
    if (def->domain)
        write_lost(w, &def->place, "'%s' is restricted to domain '%s'; XML claims nodes of any", def->type,
                   def->domain);
    if (def->n_dsp_arch_types && !(def->cores & 1u << UDO_DSP))
        write_lost(w, &def->place, "the dsp_arch_types of '%s', which does not run on the DSP, are not written",
                   def->type);
    if (!def->cores)
        write_lost(w, &def->place, "'%s' has no core_types, and XML asks for at least one <SupportedBackend>",
                   def->type);
}

/* The DSP stands once for each architecture: "DSP_V68". */
static void put_backends(struct udo_writer *w, const struct udo_def *def)
{
    for (int core = 0; core < UDO_CORES; core++)
        if (def->cores & 1u << core && (core != UDO_DSP || !def->n_dsp_arch_types))
            put_element(w, 3, "SupportedBackend", udo_core_names[core]);
    for (uint32_t i = 0; i < def->n_dsp_arch_types && def->cores & 1u << UDO_DSP; i++)
        put_element(w, 3, "SupportedBackend", arena_printf(w->arena, "DSP_V%s", def->dsp_arch_types[i] + 1));
}

static void put_operation(struct udo_writer *w, const struct udo_def *def)
{
    check_operation(w, def);
    text_add(w->arena, &w->out, "    <OpDef>\n");
    put_element(w, 3, "Name", def->type);
    text_add(w->arena, &w->out, "      <Description/>\n");
    put_tensors(w, def, def->inputs, def->n_inputs, INPUT);
    put_tensors(w, def, def->outputs, def->n_outputs, OUTPUT);
    for (uint32_t i = 0; i < def->n_scalar_params; i++)
        put_scalar(w, def, &def->scalar_params[i], i);
    put_tensors(w, def, def->tensor_params, def->n_tensor_params, PARAM);
    if (def->replaces_native)
        put_element(w, 3, "UseDefaultTranslation", "true");
    put_backends(w, def);
    text_add(w->arena, &w->out, "    </OpDef>\n");
}

/* ---- supplements ---- */

static void put_override(struct udo_writer *w, const struct types *t, const char *name, enum role role, int core)
{
    if (!differ(t) || t->core_dtypes[core] == DT_NONE)
        return;
    text_add(w->arena, &w->out, "      <%s>\n", elements[role]);
    put_element(w, 4, "Name", name);
    put_types(w, 4, t->core_dtypes[core], 0);
    text_add(w->arena, &w->out, "      </%s>\n", elements[role]);
}

static void put_overrides(struct udo_writer *w, const struct udo_tensor *tensors, uint32_t count, enum role role,
                          int core)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct types types = types_of_tensor(&tensors[i]);
        put_override(w, &types, name_of(w, &tensors[i], role, i), role, core);
    }
}

static void put_supplement(struct udo_writer *w, int core)
{
    size_t start = w->out.count, said = 0;
    text_add(w->arena, &w->out, "  <SupplementalOpDefList Backend=\"%s\">\n", udo_core_names[core]);
    for (size_t i = 0; i < w->set->defs.count; i++) {
        const struct udo_def *def = w->set->defs.data[i];
        size_t before = w->out.count;
        text_add(w->arena, &w->out, "    <SupplementalOpDef>\n");
        put_element(w, 3, "Name", def->type);
        size_t head = w->out.count;
        put_overrides(w, def->inputs, def->n_inputs, INPUT, core);
        put_overrides(w, def->outputs, def->n_outputs, OUTPUT, core);
        for (uint32_t k = 0; k < def->n_scalar_params; k++) {
            const struct types types = types_of_scalar(&def->scalar_params[k]);
            put_override(w, &types, def->scalar_params[k].name, PARAM, core);
        }
        put_overrides(w, def->tensor_params, def->n_tensor_params, PARAM, core);
        if (w->out.count == head)
            w->out.count = before; /* nothing to say about it */
        else {
            text_add(w->arena, &w->out, "    </SupplementalOpDef>\n");
            said++;
        }
    }
    if (said)
        text_add(w->arena, &w->out, "  </SupplementalOpDefList>\n");
    else
        w->out.count = start;
}

void udo_write_xml(struct udo_writer *w)
{
    const struct udo_def *first = w->set->defs.data[0];
    for (size_t i = 1; i < w->set->defs.count; i++) {
        const struct udo_def *def = w->set->defs.data[i];
        if (strcmp(def->package, first->package) != 0)
            write_impossible(w, &def->place,
                             "'%s' is of package '%s', and an XML file holds one package, here '%s': split the config",
                             def->type, def->package, first->package);
        if (def->use_qhpi != first->use_qhpi)
            write_impossible(w, &def->place, "'%s' and '%s' differ in UseQHPI, which XML gives once a file", def->type,
                             first->type);
    }
    check_text(w, &first->place, "the package", first->package);
    text_add(w->arena, &w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpDefCollection PackageName=\"");
    put_text(w, first->package);
    text_add(w->arena, &w->out, "\" Domain=\"aisw\" Version=\"1.0\"%s>\n  <OpDefList>\n",
             first->use_qhpi ? " UseQHPI=\"true\"" : "");
    for (size_t i = 0; i < w->set->defs.count; i++)
        put_operation(w, w->set->defs.data[i]);
    text_add(w->arena, &w->out, "  </OpDefList>\n");
    for (int core = 0; core < UDO_CORES; core++)
        put_supplement(w, core);
    text_add(w->arena, &w->out, "</OpDefCollection>\n");
}
