"""Factorizations of matrices, systems of equations, and functions of matrices."""
from ..namespace import offer_ops

offer_ops(
    """
    MatrixInverse | input, adjoint | linalg.inv
    MatrixDeterminant | input | linalg.det
    Cholesky | input | linalg.cholesky
    MatrixSolve | matrix, rhs, adjoint | linalg.solve
    MatrixTriangularSolve | matrix, rhs, lower, adjoint | linalg.triangular_solve
    """
)
