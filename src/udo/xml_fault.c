/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's faults in our words: what is wrong, and what would be right. */
#include <libxml/xmlerror.h>

#include "udo/xml.h"

/* The names of the parser's message stand for %s, the second one for %2$s. */
static const struct {
    int code;
    const char *message, *hint;
} words[] = {
    {XML_ERR_DOCUMENT_EMPTY, "an element must begin here",
     "the form is <OpDefCollection PackageName=\"…\"><OpDefList>…"},
    {XML_ERR_DOCUMENT_END, "text after the end of the outermost element", "remove it, or an end tag too many"},
    {XML_ERR_INVALID_HEX_CHARREF, "a character reference is malformed", "it looks like &#x41;"},
    {XML_ERR_INVALID_DEC_CHARREF, "a character reference is malformed", "it looks like &#65;"},
    {XML_ERR_INVALID_CHARREF, "a character reference is malformed", "it looks like &#65; or &#x41;"},
    {XML_ERR_INVALID_CHAR, "a character that XML does not have", "save the file as UTF-8 without control characters"},
    {XML_ERR_INVALID_ENCODING, "bytes that are not UTF-8", "save the file as UTF-8"},
    {XML_ERR_UNDECLARED_ENTITY, "the entity '%s' is not defined",
     "only &lt; &gt; &amp; &quot; and &apos; are known; write a plain & as &amp;"},
    {XML_WAR_UNDECLARED_ENTITY, "the entity '%s' is not defined",
     "only &lt; &gt; &amp; &quot; and &apos; are known; write a plain & as &amp;"},
    {XML_ERR_ENTITYREF_SEMICOL_MISSING, "';' is missing behind an entity", "write a plain & as &amp;"},
    {XML_ERR_NAME_REQUIRED, "a name is missing", "write a plain < as &lt; and a plain & as &amp;"},
    {XML_ERR_LT_IN_ATTRIBUTE, "'<' in the value of an attribute", "write it as &lt;, or end the value with its quote"},
    {XML_ERR_ATTRIBUTE_NOT_STARTED, "the value of an attribute must stand in quotes", "write name=\"value\""},
    {XML_ERR_ATTRIBUTE_NOT_FINISHED, "the value of an attribute does not end", "end it with its quote"},
    {XML_ERR_ATTRIBUTE_WITHOUT_VALUE, "the attribute '%s' has no value", "write name=\"value\""},
    {XML_ERR_ATTRIBUTE_REDEFINED, "second attribute '%s' in a tag", "remove one"},
    {XML_ERR_SPACE_REQUIRED, "a blank is missing", NULL},
    {XML_ERR_EQUAL_REQUIRED, "'=' is missing", "write name=\"value\""},
    {XML_ERR_GT_REQUIRED, "the tag is not closed", "end it with '>'"},
    {XML_ERR_LTSLASH_REQUIRED, "an end tag is missing", NULL},
    {XML_ERR_TAG_NOT_FINISHED, "the text ends inside of <%s>", "add the missing end tags"},
    {XML_ERR_TAG_NAME_MISMATCH, "</%2$s> where </%1$s> is due", "each element ends with its own name: case counts"},
    {XML_ERR_COMMENT_NOT_FINISHED, "a comment does not end", "end it with -->"},
    {XML_ERR_HYPHEN_IN_COMMENT, "'--' in a comment", "a comment ends with -->, and has no -- before"},
    {XML_ERR_CDATA_NOT_FINISHED, "a CDATA section does not end", "end it with ]]>"},
    {XML_ERR_MISPLACED_CDATA_END, "']]>' in a text", "write ]]&gt;"},
    {XML_ERR_PI_NOT_STARTED, "a name is missing behind '<?'", NULL},
    {XML_ERR_PI_NOT_FINISHED, "a processing instruction does not end", "end it with ?>"},
    {XML_ERR_RESERVED_XML_NAME, "<?xml ?> is allowed at the very beginning of the file alone",
     "remove what stands before it"},
    {XML_ERR_XMLDECL_NOT_FINISHED, "<?xml ?> does not end", "end it with ?>"},
    {XML_ERR_VERSION_MISSING, "<?xml ?> has no version", "write <?xml version=\"1.0\" encoding=\"UTF-8\"?>"},
    {XML_ERR_UNKNOWN_VERSION, "<?xml ?> has an unknown version", "write <?xml version=\"1.0\" encoding=\"UTF-8\"?>"},
    {XML_ERR_STANDALONE_VALUE, "standalone in <?xml ?> must be \"yes\" or \"no\"", NULL},
    {XML_ERR_ENCODING_NAME, "<?xml ?> has a malformed encoding", "write <?xml version=\"1.0\" encoding=\"UTF-8\"?>"},
    {XML_ERR_STRING_NOT_STARTED, "a value must stand in quotes", NULL},
    {XML_ERR_STRING_NOT_CLOSED, "a value does not end", "end it with its quote"},
};

/* Of a fault that has no words of ours; what the parser calls internal is of the text, too. */
static void report_other(struct xml *x, size_t at, const struct xml_fault *fault)
{
    text said = {0};
    for (const char *c = fault->message ? fault->message : "no more"; *c && *c != '\n'; c++)
        text_add_bytes(x->source.arena, &said, c, 1);
    (void)xml_error(x, at, arena_printf(x->source.arena, "the XML parser says: %s", said.count ? said.data : "no more"),
                    "xml-syntax", "the text is no XML from here on");
}

void xml_report_fault(struct xml *x, size_t at, const struct xml_fault *fault, const struct xml_node *open)
{
    size_t i = 0;
    while (i < COUNT_OF(words) && words[i].code != fault->code)
        i++;
    if (i == COUNT_OF(words)) {
        report_other(x, at, fault);
        return;
    }
    const char *name = fault->name ? fault->name : "?", *other = fault->other ? fault->other : name;
    if (fault->code == XML_ERR_ATTRIBUTE_REDEFINED)
        name = other; /* the first one is its prefix */
    (void)xml_error(x, at, words[i].hint, "xml-syntax", words[i].message, name, other);
    if (fault->code == XML_ERR_TAG_NAME_MISMATCH && open)
        xml_note(x, open->offset, "xml-opened", "<%s> begins here", open->name);
}
