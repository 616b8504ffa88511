"""Dense routines of the BLAS and LAPACK that scipy ships, called from numba kernels.

scipy publishes the addresses of its routines in `scipy.linalg.cython_blas` and `cython_lapack`.
They change from one process to the next, so the kernels take them as an argument: a compiled kernel
in numba's cache holds no address and serves the next process too.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from scipy.linalg import cython_blas, cython_lapack

from fecontact.typing import IntArray

# letters that BLAS takes for lower, no transpose, right side, transpose
L, N, R, T = (np.int8(ord(letter)) for letter in "LNRT")
# routines that the kernels call, and their places in the table of addresses
ROUTINES = ("dpotrf", "dtrsm", "dsyrk", "dgemm", "dtrsv", "dgemv")
POTRF, TRSM, SYRK, GEMM, TRSV, GEMV = range(6)


@cache
def addresses() -> IntArray:
    """Addresses in this process of the routines that the kernels call."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    published: dict[str, Any] = {**cython_lapack.__pyx_capi__, **cython_blas.__pyx_capi__}
    capsules = [published[routine] for routine in ROUTINES]
    for capsule in capsules:
        if b" int *" not in name(capsule):
            raise ImportError(f"scipy's BLAS takes {name(capsule)!r}, expected 32-bit integers")
    found = [pointer(capsule, name(capsule)) for capsule in capsules]
    return np.array(found, dtype=np.int64)


def _fortran(typingctx: Any, address: Any, arguments: Any) -> Any:
    """Call the Fortran routine at ``address`` with the tuple ``arguments``.

    64-bit integers are addresses and passed as they are; int8 (letters), int32 and float64 are
    passed by reference, as Fortran wants them.
    """
    byte = ir.IntType(8).as_pointer()

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        target, packed = values
        pointers = []
        for k, kind in enumerate(arguments.types):
            value = builder.extract_value(packed, k)
            if kind in (types.int64, types.uint64):
                pointers.append(builder.inttoptr(value, byte))
            else:
                place = cgutils.alloca_once_value(builder, value)  # type: ignore[no-untyped-call]
                pointers.append(builder.bitcast(place, byte))
        routine = ir.FunctionType(ir.VoidType(), [byte] * len(pointers)).as_pointer()
        builder.call(builder.inttoptr(target, routine), pointers)
        return context.get_dummy_value()

    return types.void(types.int64, arguments), generate


# call(address, (argument, ...)) in a kernel
call: Any = intrinsic(_fortran)
