# cython: cdivision=True
# The same in 64 bits. Every compiled part of the model counts with these.

from libc.stdint cimport int64_t, uint64_t

ctypedef int64_t i64
ctypedef uint64_t u64

cdef extern from *:
    """
    static int mul_overflows(long long a, long long b, long long *r) { return __builtin_mul_overflow(a, b, r); }
    """
    int mul_overflows(long long a, long long b, long long* r) noexcept nogil

cdef enum:
    SIGNED = -1     # makes C compare the next two as signed numbers
    FAR = 0x10000000000
    LIMIT = 0x1000000000000000

cdef enum:  # how a part answers
    FITS = 0
    SHORT = 1
    OVERFLOW = 2


cdef inline i64 imin(i64 a, i64 b) noexcept nogil:
    return a if a < b else b


cdef inline i64 imax(i64 a, i64 b) noexcept nogil:
    return a if a > b else b


cdef inline i64 ceil_div(i64 a, i64 b) noexcept nogil:
    """C's division cuts towards zero, which is up where a < 0."""
    return (a + b - 1) // b if a > 0 else a // b


cdef inline i64 floor_div(i64 a, i64 b) noexcept nogil:
    return -ceil_div(-a, b)


cdef inline i64 row_bytes(i64 channels, i64 bits) noexcept nogil:
    return channels if bits == 8 else ceil_div(channels * bits, 8)


cdef inline i64 gcd(i64 a, i64 b) noexcept nogil:
    cdef i64 t
    if a == 1 or b == 1:
        return 1
    while b:
        t = a % b
        a = b
        b = t
    return a


cdef inline i64 product(i64 a, i64 b) noexcept nogil:
    cdef long long r
    return LIMIT + 1 if mul_overflows(a, b, &r) or r > <i64>LIMIT else r


cdef inline i64 lcm(i64 a, i64 b) noexcept nogil:
    return a if a == b else product(a // gcd(a, b), b)
