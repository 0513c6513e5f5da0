#ifndef DARKROOM_VECTORISED_H
#define DARKROOM_VECTORISED_H

#if defined(__x86_64__) && !__has_feature(thread_sanitizer)
// The dynamic loader selects the AVX2 code if the CPU supports it, so a single binary without build flags is enough.
// Under the thread sanitizer this selection is disabled, since the loader selects the code before the sanitizer is
// ready.
//
// The names of vectorised functions must be unique in the library. clang 17 generates code that selects a version of the
// function, and names this code after the function, even if the function is static. Of several such pieces of code with
// the same name, the linker keeps only one.
#define VECTORISED __attribute__((target_clones("default", "avx2")))
#else
#define VECTORISED
#endif

#endif
