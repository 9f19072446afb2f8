/* FORMATTED(f, first): after the declaration of a function whose parameter f, counted from 1, is a format as C11 has
 * it, of the parameters from `first` on. Compilers then check callers. gcc would check as Windows' own printf has it.
 */
#ifndef SLABCAST_BASE_FORMATTED_H
#define SLABCAST_BASE_FORMATTED_H

#if defined(__MINGW32__) && !defined(__clang__)
#define FORMATTED(f, first) __attribute__((format(gnu_printf, f, first)))
#elif defined(__GNUC__) || defined(__clang__)
#define FORMATTED(f, first) __attribute__((format(printf, f, first)))
#else
#define FORMATTED(f, first)
#endif

#endif
