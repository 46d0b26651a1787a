/* occ_vapart.h - the long functions of occ_vmath.h as calls, for kernels whose tiles fill the registers: inlined, the
 * constants of a function would spill the sums. */
#ifndef OCC_VAPART_H
#define OCC_VAPART_H

#include "occ_vpow.h"

OCC_STEP occ_vf occ_vexp_apart(occ_vf a)
{
    return occ_vexp(a);
}

OCC_STEP occ_vf occ_vlog_apart(occ_vf a)
{
    return occ_vlog(a);
}

OCC_STEP occ_vf occ_vtanh_apart(occ_vf a)
{
    return occ_vtanh(a);
}

OCC_STEP occ_vf occ_vsigmoid_apart(occ_vf a)
{
    return occ_vsigmoid(a);
}

OCC_STEP occ_vf occ_vsoftplus_apart(occ_vf a)
{
    return occ_vsoftplus(a);
}

OCC_STEP occ_vf occ_verf_apart(occ_vf a)
{
    return occ_verf(a);
}

OCC_STEP occ_vf occ_vpow_apart(occ_vf a, occ_vf b)
{
    return occ_vpow(a, b);
}

#endif
