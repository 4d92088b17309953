"""Type stubs of evenflow.linalg. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def adjoint(matrix, name=None):
    """The conjugate transpose of the last two dimensions."""

def band_part(input, num_lower, num_upper, name=None) -> Tensor:
    """Sets everything outside a band around the main diagonals to zero: the band has `num_lower` diagonals below it and `num_upper` above; a negative number means all."""

def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None) -> Tensor:
    """Solves systems with a banded triangular matrix, whose diagonals are the rows of `matrix`: the main diagonal first and those below it if `lower`, else the main diagonal last."""

def cholesky(input, name=None) -> Tensor:
    """The lower triangular L with L L^H = `input`, for positive definite matrices, of which only the lower triangle is read; NaN for others."""

def cholesky_solve(chol, rhs, name=None):
    """Solves `a x = rhs`, given the Cholesky factor `chol` of `a`."""

def cross(a, b, name=None) -> Tensor:
    """The vector product of the three-element vectors in the last axes of `a` and `b`."""

def det(input, name=None) -> Tensor:
    """The determinants of square matrices."""

def diag(diagonal, name='diag', k=0, num_rows=-1, num_cols=-1, padding_value=0, align='RIGHT_LEFT'):
    """Matrices with the given diagonals, `padding_value` elsewhere."""

def diag_part(input, name='diag_part', k=0, padding_value=0, align='RIGHT_LEFT'):
    """The diagonals `k` of matrices."""

def eig(tensor, name=None):
    """Eigenvalues and eigenvectors of square matrices; both are complex."""

def eigh(tensor, name=None):
    """(eigenvalues in ascending order, eigenvectors) of self-adjoint matrices."""

def eigh_tridiagonal(alpha, beta, eigvals_only=True, select='a', select_range=None, tol=None, name=None):
    """The eigenvalues, in ascending order, of the self-adjoint tridiagonal matrix with diagonal `alpha` and off-diagonal"""

def eigvals(tensor, name=None):
    """Eigenvalues of square matrices, complex."""

def eigvalsh(tensor, name=None):
    """The eigenvalues of self-adjoint matrices in ascending order."""

def einsum(equation, *inputs, **kwargs):
    """Sums of products in Einstein notation: 'ij,jk->ik' is a matrix product."""

def expm(input, name=None) -> Tensor:
    """The exponentials of square matrices, 1 + A + A A / 2 + ...; NaN where an element is not finite."""

def eye(num_rows, num_columns=None, batch_shape=None, dtype=..., name=None):
    """Identity matrices: ones on the diagonal, zeros elsewhere."""

def global_norm(t_list, name=None):
    """The Euclidean norm of several tensors, taken as one vector. None entries are ignored."""

def inv(input, adjoint=False, name=None) -> Tensor:
    """The inverses of square matrices, or of their adjoints."""

def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """`x` scaled to length 1 along `axis`; vectors shorter than sqrt(epsilon) are scaled less."""

def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices."""

def logm(input, name=None) -> Tensor:
    """The principal logarithms of square complex matrices; NaN where there is none."""

def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The least-squares solution x of `matrix x = rhs`."""

def lu(input, output_idx_type=..., name=None):
    """The LU factorization of square matrices: (both triangular factors in one matrix, permutation of the rows)."""

def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverses of the matrices whose LU factorization is given."""

def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrices whose LU factorization is given."""

def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """Solves `a x = rhs`, given the LU factorization of `a`."""

def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False, b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None):
    """The product of two matrices, or of two batches of matrices, whose batch dimensions broadcast."""

def matrix_rank(a, tol=None, validate_args=False, name=None):
    """The rank of matrices: the number of singular values larger than `tol`."""

def matrix_transpose(a, name='matrix_transpose', conjugate=False):
    """Transposes the last two dimensions."""

def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """Matrices times vectors."""

def norm(tensor, ord='euclidean', axis=None, keepdims=None, name=None):
    """The norm of vectors (one axis, or all) or of matrices (two axes)."""

def normalize(tensor, ord='euclidean', axis=None, name=None):
    """(`tensor` divided by its norm, the norm)."""

def pinv(a, rcond=None, validate_args=False, name=None):
    """Moore-Penrose inverses; singular values below `rcond` times the largest count as zero."""

def qr(input, full_matrices=False, name=None):
    """The QR factorization: `q` has orthonormal columns, `r` is upper triangular, and their product is the input."""

def set_diag(input, diagonal, name='set_diag', k=0, align='RIGHT_LEFT'):
    """Matrices with their diagonals `k` replaced."""

def slogdet(input, name=None):
    """(sign of the determinant, logarithm of its absolute value)."""

def solve(matrix, rhs, adjoint=False, name=None) -> Tensor:
    """Solves `matrix` x = `rhs`, or with the adjoint of `matrix`, for each matrix of a batch."""

def sqrtm(input, name=None) -> Tensor:
    """The principal square roots of square matrices: the product of a root with itself is the matrix. NaN where there is none."""

def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """The singular values in descending order; with `compute_uv` also the singular vectors: s, u, v."""

def tensor_diag(diagonal, name=None) -> Tensor:
    """A tensor of twice the rank with the elements of `diagonal` where both halves of an index are equal, and zeros elsewhere."""

def tensor_diag_part(input, name=None) -> Tensor:
    """The elements of `input` whose index has two equal halves."""

def tensordot(a, b, axes, name=None):
    """The sum of products over pairs of axes of two tensors."""

def trace(x, name=None):
    """The sum of the diagonal of matrices."""

def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None) -> Tensor:
    """Solves `matrix` x = `rhs`, or with the adjoint of `matrix`, of which only one triangle is read; leading axes broadcast."""

def tridiagonal_matmul(diagonals, rhs, diagonals_format='compact', name=None):
    """Multiplies tridiagonal matrices by `rhs`."""

def tridiagonal_solve(diagonals, rhs, diagonals_format='compact', transpose_rhs=False, conjugate_rhs=False, name=None, partial_pivoting=True, perturb_singular=False):
    """Solves linear systems with tridiagonal matrices."""
