/* SPDX-License-Identifier: Apache-2.0 */
/* XML configs of the tests: one OpDef in a collection, with what is wanted in it. */
#ifndef TESTS_UDO_XML_H
#define TESTS_UDO_XML_H

#include "site_fixture.h"

#define COLLECTION(content) "<OpDefCollection PackageName='P' Domain='d' Version='1'>\n" content "</OpDefCollection>"
#define TENSOR(kind, name, more)                                                                                    \
    "<" kind "><Name>" name "</Name><Mandatory>true</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>ND</Rank>" \
    "</Shape>" more "</" kind ">"
#define OPDEF(more) "<OpDef><Name>T</Name>" TENSOR("Input", "x", "") TENSOR("Output", "y", "") more "</OpDef>"
/* A param; type and rank without their tags. */
#define PARAM(name, mandatory, type, rank, more)                                          \
    "<Parameter><Name>" name "</Name><Mandatory>" mandatory "</Mandatory><Datatype>" type \
    "</Datatype><Shape><Rank>" rank "</Rank></Shape>" more "</Parameter>"

static inline odlc_status load_xml(struct fixture *f, const char *xml)
{
    return udo_parse(&f->set, "ops.xml", xml, strlen(xml));
}

/* The first definition of a file that must load without any complaint. */
static inline const struct udo_def *load_def(struct fixture *f, const char *xml)
{
    odlc_status status = load_xml(f, xml);
    ck_assert_msg(status == ODLC_OK && f->diags.list.count == 0, "%s\n%s", xml, all_diags(f));
    ck_assert_uint_ge(f->set.defs.count, 1);
    return f->set.defs.data[0];
}

#endif
