/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements and attributes may stand where in an OpDef file. */
#include <string.h>

#include "udo/opdef.h"

enum kind {
    K_LEAF, /* text alone */
    K_FREE, /* descriptive: whatever stands in it is skipped */
    K_COLLECTION,
    K_OP_LIST,
    K_OP,
    K_INPUT,
    K_OUTPUT,
    K_PARAM,
    K_SHAPE,
    K_ENUMERATION,
    K_SUPPLEMENT_LIST,
    K_SUPPORTED,
    K_SUPPLEMENT,
    K_OVERRIDE,
    K_OVERRIDE_SHAPE
};

struct member {
    const char *name;
    enum kind kind;
    bool many;
};

enum { MAX_MEMBERS = 12, MAX_ATTRS = 4 };

struct rule {
    struct member members[MAX_MEMBERS];
    const char *attrs[MAX_ATTRS];
    bool strict; /* anything else is an error, not only a warning */
};

static const struct rule rules[] = {
    [K_LEAF] = {.attrs = {NULL}},
    [K_FREE] = {.attrs = {NULL}},
    [K_COLLECTION] = {.members = {{"OpDefList", K_OP_LIST, false}, {"SupplementalOpDefList", K_SUPPLEMENT_LIST, true}},
                      .attrs = {"PackageName", "Domain", "Version", "UseQHPI"}},
    [K_OP_LIST] = {.members = {{"OpDef", K_OP, true}}, .attrs = {"Version"}},
    [K_OP] = {.members = {{"Name", K_LEAF, false},
                          {"Description", K_FREE, true},
                          {"Reference", K_FREE, true},
                          {"Input", K_INPUT, true},
                          {"Output", K_OUTPUT, true},
                          {"Parameter", K_PARAM, true},
                          {"UseDefaultTranslation", K_LEAF, false},
                          {"SupportedBackend", K_LEAF, true}}},
    [K_INPUT] = {.members = {{"Name", K_LEAF, false},
                             {"Description", K_FREE, true},
                             {"Constraint", K_FREE, true},
                             {"Mandatory", K_LEAF, false},
                             {"Datatype", K_LEAF, true},
                             {"Shape", K_SHAPE, false},
                             {"Default", K_LEAF, false},
                             {"Repeated", K_LEAF, false},
                             {"DynamicShape", K_FREE, true},
                             {"IsStaticTensor", K_LEAF, false}}},
    [K_OUTPUT] = {.members = {{"Name", K_LEAF, false},
                              {"Description", K_FREE, true},
                              {"Constraint", K_FREE, true},
                              {"Mandatory", K_LEAF, false},
                              {"Datatype", K_LEAF, true},
                              {"Shape", K_SHAPE, false},
                              {"Default", K_LEAF, false},
                              {"Repeated", K_LEAF, false},
                              {"DynamicShape", K_FREE, true}}},
    [K_PARAM] = {.members = {{"Name", K_LEAF, false},
                             {"Description", K_FREE, true},
                             {"Constraint", K_FREE, true},
                             {"Mandatory", K_LEAF, false},
                             {"Datatype", K_LEAF, true},
                             {"Shape", K_SHAPE, false},
                             {"Default", K_LEAF, false},
                             {"Enumeration", K_ENUMERATION, false}}},
    [K_SHAPE] = {.members = {{"Rank", K_LEAF, false}, {"Layout", K_LEAF, false}, {"Text", K_FREE, true}}},
    [K_ENUMERATION] = {.members = {{"Enum", K_LEAF, true}}},
    [K_SUPPLEMENT_LIST] = {.members = {{"SupportedOps", K_SUPPORTED, true}, {"SupplementalOpDef", K_SUPPLEMENT, true}},
                           .attrs = {"Backend", "Runtime"}},
    [K_SUPPORTED] = {.members = {{"OpName", K_LEAF, true}}},
    [K_SUPPLEMENT] = {.members = {{"Name", K_LEAF, false},
                                  {"Input", K_OVERRIDE, true},
                                  {"Output", K_OVERRIDE, true},
                                  {"Parameter", K_OVERRIDE, true}},
                      .strict = true},
    [K_OVERRIDE] = {.members = {{"Name", K_LEAF, false},
                                {"Constraint", K_FREE, true},
                                {"Datatype", K_LEAF, true},
                                {"QuantParam", K_FREE, true},
                                {"Shape", K_OVERRIDE_SHAPE, false},
                                {"OnlyDefaultSupported", K_LEAF, false}},
                    .strict = true},
    [K_OVERRIDE_SHAPE] = {.members = {{"Layout", K_LEAF, true}, {"Text", K_FREE, true}}, .strict = true},
};

static const struct member *find_member(const struct rule *rule, const char *name)
{
    for (int i = 0; i < MAX_MEMBERS && rule->members[i].name; i++)
        if (strcmp(rule->members[i].name, name) == 0)
            return &rule->members[i];
    return NULL;
}

static void unknown_element(struct opdef *o, const struct rule *rule, const struct xml_node *node)
{
    const char *names[MAX_MEMBERS];
    size_t count = 0;
    text list = {0};
    if (!rule->strict && !source_shows_warnings(&o->xml->source)) {
        o->xml->source.warnings++;
        return;
    }
    while (count < MAX_MEMBERS && rule->members[count].name) {
        names[count] = rule->members[count].name;
        text_add(o->arena, &list, "%s%s", count ? ", " : "", names[count]);
        count++;
    }
    const char *nearest = nearest_word(node->name, names, count);
    const char *hint = nearest ? arena_printf(o->arena, "did you mean <%s>?", nearest) : NULL;
    if (!rule->strict) {
        xml_warn(o->xml, node->offset, hint, "udo-unknown-element", "unknown element <%s> in <%s> is ignored",
                 node->name, node->parent->name);
        return;
    }
    if (!hint)
        hint = arena_printf(o->arena, "a supplement gives %s", list.data);
    (void)xml_error(o->xml, node->offset, hint, "udo-not-overridable", "a supplement cannot override <%s> of <%s>",
                    node->name, node->parent->name);
}

static void check_attrs(struct opdef *o, const struct rule *rule, const struct xml_node *node)
{
    size_t count = 0;
    while (count < MAX_ATTRS && rule->attrs[count])
        count++;
    for (uint32_t i = 0; i < node->n_attrs; i++) {
        const struct xml_attr *a = &node->attrs[i];
        size_t k = 0;
        while (k < count && strcmp(rule->attrs[k], a->name) != 0)
            k++;
        /* xsi:noNamespaceSchemaLocation and the like say nothing about ops. */
        if (k < count || strncmp(o->xml->source.text + a->offset, a->name, strlen(a->name)) != 0)
            continue;
        bool shown = source_shows_warnings(&o->xml->source);
        const char *nearest = shown ? nearest_word(a->name, rule->attrs, count) : NULL;
        xml_warn(o->xml, a->offset, nearest ? arena_printf(o->arena, "did you mean '%s'?", nearest) : NULL,
                 "udo-unknown-attribute", "unknown attribute '%s' of <%s> is ignored", a->name, node->name);
    }
}

static void check_children(struct opdef *o, const struct rule *rule, const struct xml_node *node);

static void check_node(struct opdef *o, enum kind kind, const struct xml_node *node)
{
    if (kind == K_FREE)
        return;
    const struct rule *rule = &rules[kind];
    check_attrs(o, rule, node);
    if (kind != K_LEAF && *node->text)
        xml_warn(o->xml, xml_text_offset(o->xml, node), NULL, "udo-stray-text", "text in <%s> is ignored", node->name);
    check_children(o, rule, node);
}

static void check_children(struct opdef *o, const struct rule *rule, const struct xml_node *node)
{
    const struct xml_node *first[MAX_MEMBERS] = {NULL};
    for (const struct xml_node *child = node->child; child; child = child->next) {
        const struct member *m = find_member(rule, child->name);
        if (!m) {
            unknown_element(o, rule, child);
            continue;
        }
        const struct xml_node **seen = &first[m - rule->members];
        if (*seen && !m->many) {
            (void)xml_error(o->xml, child->offset, NULL, "udo-duplicate-element", "second <%s> in <%s>", child->name,
                            node->name);
            xml_note(o->xml, (*seen)->offset, "udo-first", "the first is here");
        }
        *seen = child;
        check_node(o, m->kind, child);
    }
}

bool opdef_check(struct opdef *o)
{
    const struct xml_node *root = o->xml->root;
    if (strcmp(root->name, "OpDefCollection") == 0) {
        check_node(o, K_COLLECTION, root);
        return true;
    }
    static const char *const others[] = {"OpDef", "OpDefList", "SupplementalOpDefList",
                                         "SupplementalOpDefSpecification"};
    bool known = false;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        known = known || strcmp(root->name, others[i]) == 0;
    (void)xml_error(o->xml, root->offset, "the form is <OpDefCollection PackageName=\"…\"><OpDefList>…",
                    "udo-wrong-root",
                    known ? "a lone <%s> does not say which package it belongs to; put it into an <OpDefCollection>"
                          : "the outermost element must be <OpDefCollection>, not <%s>",
                    root->name);
    return false;
}
