/* kernels.h - the kernels that steps call: their text (for emission) and the same functions linked in (for folding).
 * The tables are made by codegen_templates/embed.c from schemas/kernels.def and the template files. */
#ifndef OCC_PROGRAM_KERNELS_H
#define OCC_PROGRAM_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ParamKind {
    PARAM_READS,  /* const T * : an operand that is read */
    PARAM_WRITES, /* T *       : an operand that is written, or read and written */
    PARAM_INT,    /* int64_t or int */
    PARAM_INTS,   /* const occ_extent * */
    PARAM_FLOAT,  /* float or double */
    PARAM_FLOATS, /* const float * named with the prefix `table_`, or const double * likewise */
    PARAM_EXPR,   /* const occ_expr *: what the expression reads */
    PARAM_FN,     /* the expression, a static function */
    PARAM_SHAPE   /* const occ_image *x_at and the like: extents and strides of an operand, taken from it */
} ParamKind;

/* A parameter of a kernel, or a field of a struct that it takes: the fields of one struct follow each other. */
typedef struct Param {
    ParamKind   kind;
    const char *ctype; /* "const float *", "int64_t"; a shape: "occ_image" */
    const char *name;
    const char *group,
        *group_type;    /* the struct that it is a field of, "window", and its type, "occ_window"; NULL: none */
    const char *inside; /* the nested struct that holds the field; "": it is a direct field */
    int         count;  /* capacity of an array inside a struct, or number of axes of a shape; else 0 */
    int         of;     /* a shape: the operand, by position */
    bool        ranked; /* a shape whose first field is its number of axes, at most `count` */
} Param;

/* A step has an argument for it. */
static inline bool param_is_value(const Param *param)
{
    return param->kind >= PARAM_INT && param->kind <= PARAM_FLOATS;
}

/* Values for the non-pointer parameters of a direct call. */
typedef struct KernelArg {
    int64_t        i;
    double         f;
    const int64_t *ints; /* of a shape: its fields in order */
    const double  *floats;
} KernelArg;

/* The languages of kernels. C: one loop after another, in rising order of address where the row of kernels.def says so.
 * DEVICE: all elements of a result at once, so that reads are in no order. */
typedef enum Language { LANGUAGE_C, LANGUAGE_DEVICE, LANGUAGES } Language;

/* How a kernel runs on a device: see schemas/device.def. */
typedef enum HomeForm {
    HOME_NONE,  /* no row of device.def names the kernel */
    HOME_TWIN,  /* code of its own, with the same name and arguments */
    HOME_UNITS, /* the code in C, one unit of work for each thread */
    HOME_ONE,   /* the code in C, on one thread */
    HOME_HOST   /* the code in C, on the host */
} HomeForm;

/* A kernel's code in one language, and where its result may lie while its operands are still needed. */
typedef struct KernelCode {
    const char *file;       /* file with the code, or with the row of its home; NULL: none in this language */
    bool        in_place;   /* KERNEL_IN_PLACE: on an operand of equal type and layout, or below it in memory */
    bool        same_place; /* KERNEL_SAME_PLACE: on an operand of its expression of equal type and layout */
    bool        by_rows;    /* the result may follow an input, at the distance that the record says */
    HomeForm    home;       /* LANGUAGE_DEVICE */
} KernelCode;

struct KernelRecord;
typedef struct Kernel {
    const char                *name;   /* "conv_f32": the function is occ_conv_f32 */
    const struct KernelRecord *record; /* properties beside the signature: kernels/record.h */
    const Param               *param;
    int                        nparam;
    int                        ntaken; /* parameters of the function: a struct counts once */
    bool                       fails;  /* returns int: 0 or a negative occ code */
    bool                       vector; /* its expression is over occ_vf, else over scalars */
    bool                       open;   /* KERNEL_OPEN: long functions of its expression are inlined into its loop */
    KernelCode                 code[LANGUAGES]; /* by Language */
    /* p: pointer parameters in order; a: values and shapes in order; expr, fn: as the kernel declares them (cast
     * inside). */
    int (*call)(void *const *p, const KernelArg *a, const void *expr, void (*fn)(void));
} Kernel;

const Kernel *kernel_find(const char *name);                       /* NULL: no such kernel */
bool          kernel_has(const Kernel *kernel, Language language); /* has the kernel code in the language? */
const char   *language_name(Language language);

/* A scalar function of the templates by name, "add_f32": *result = occ_add_f32(*operand[0], *operand[1]). Ends with
 * NULLs. */
typedef struct ScalarFunction {
    const char *name;
    void (*call)(void *result, const void *const *operand);
} ScalarFunction;

extern const ScalarFunction scalar_function[];
const ScalarFunction       *scalar_function_find(const char *name); /* NULL: there is none */

/* A top-level definition of template text (function, type, macro, or a whole #if ... #endif block) and the names it
 * defines. */
typedef struct Chunk {
    const char        *text;    /* with TPL_ names already replaced */
    const char *const *defines; /* identifiers, NULL-terminated */
    const char        *file;
    bool               on_device; /* device code; a name that C code defines too means this one there */
} Chunk;

extern const Chunk  template_chunk[]; /* in an order with each chunk behind the chunks that it uses */
extern const int    template_nchunk;
extern const Kernel kernel_table[];
extern const int    kernel_count;

/* Whole files of codegen_templates/main and runtime, for --main. */
typedef struct TemplateFile {
    const char *name, *text;
} TemplateFile;
extern const TemplateFile template_file[];
extern const int          template_nfile;
const char               *template_text(const char *name); /* "": there is no such file */

#endif
