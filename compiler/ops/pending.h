/* pending.h - rules that the table names before they are written; an operator with one of these is refused. */
#ifndef OCC_OPS_PENDING_H
#define OCC_OPS_PENDING_H

#define infer_cast_map NULL
#define infer_dict_vectorizer NULL
#define infer_zip_map NULL

#endif
