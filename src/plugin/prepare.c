#include "plugin/prepare.h"

odlc_status plugin_prepare(struct preparation *p, const struct step_io *io)
{
    p->graph = graph_new(p->arena, p->diags, p->scope->packages);
    TRY(prepare_import(p, io));
    TRY(prepare_rewrite(p, false));
    TRY(prepare_tiles(p));
    TRY(prepare_rewrite(p, true));
    prepare_slices(p);
    TRY(prepare_kernels(p));
    TRY(prepare_steps(p));
    prepare_placement(p, 0);
    TRY(prepare_memory(p));
    TRY(prepare_timeline(p));
    return prepare_precomputation(p);
}
