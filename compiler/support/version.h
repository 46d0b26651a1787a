/* version.h - the version of occamyc, as --version and the banner of generated files print it. */
#ifndef OCC_SUPPORT_VERSION_H
#define OCC_SUPPORT_VERSION_H

#define OCCAMYC_VERSION "0.1.0"

#endif
