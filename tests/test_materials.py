"""Elasticity matrices against tensors, closed forms and symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fecontact.errors import MaterialError
from fecontact.materials import Damping, IsotropicElastic, OrthotropicElastic

PAIRS = [(0, 0), (1, 1), (2, 2), (0, 1)]
AXES = {"E1": 5.0, "E2": 2.0, "E3": 3.0, "nu12": 0.2, "nu13": 0.25, "nu23": 0.3, "G12": 1.1}


def tensor_of(D):
    """Fourth-order tensor of a matrix on (xx, yy, zz, xy), without out-of-plane shears."""
    C = np.zeros((3, 3, 3, 3))
    for I, (i, j) in enumerate(PAIRS):
        for J, (k, l) in enumerate(PAIRS):
            for a, b in {(i, j), (j, i)}:
                for c, d in {(k, l), (l, k)}:
                    C[a, b, c, d] = D[I, J]
    return C


def matrix_of(C):
    return np.array([[C[i, j, k, l] for k, l in PAIRS] for i, j in PAIRS])


@given(E=st.floats(1e-3, 1e12), nu=st.floats(-0.9, 0.499), angle=st.floats(-180.0, 180.0))
def test_isotropic_from_the_tensor_and_orthotropic_with_equal_axes(E, nu, angle):
    law = IsotropicElastic(E, nu)
    lam, G = E * nu / ((1 + nu) * (1 - 2 * nu)), E / 2 / (1 + nu)
    d = np.eye(3)
    C = lam * np.einsum("ij,kl->ijkl", d, d) + G * (
        np.einsum("ik,jl->ijkl", d, d) + np.einsum("il,jk->ijkl", d, d)
    )
    D = law.elasticity("plane_strain")
    np.testing.assert_allclose(D, matrix_of(C), rtol=1e-12, atol=1e-12 * E)
    same = OrthotropicElastic(E, E, E, nu, nu, nu, G, angle=angle).elasticity("plane_strain")
    np.testing.assert_allclose(same, D, rtol=1e-9, atol=1e-9 * abs(D).max())


@pytest.mark.parametrize("angle", [0.0, 17.0, 45.0, 90.0, -63.0])
def test_orthotropic_turned_is_the_turned_tensor(angle):
    straight = tensor_of(OrthotropicElastic(**AXES).elasticity("axisymmetric"))
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    Q = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    turned = np.einsum("ia,jb,kc,ld,abcd->ijkl", Q, Q, Q, Q, straight)
    D = OrthotropicElastic(**AXES, angle=angle).elasticity("axisymmetric")
    np.testing.assert_allclose(D, matrix_of(turned), atol=1e-13)


def test_orthotropic_constants_come_back_from_uniaxial_tests():
    S = np.linalg.inv(OrthotropicElastic(**AXES).unconstrained_elasticity())
    assert 1 / S[0, 0] == pytest.approx(AXES["E1"])
    assert 1 / S[1, 1] == pytest.approx(AXES["E2"])
    assert 1 / S[2, 2] == pytest.approx(AXES["E3"])
    assert -S[1, 0] / S[0, 0] == pytest.approx(AXES["nu12"])
    assert -S[2, 0] / S[0, 0] == pytest.approx(AXES["nu13"])
    assert -S[2, 1] / S[1, 1] == pytest.approx(AXES["nu23"])
    assert 1 / S[3, 3] == pytest.approx(AXES["G12"])


def test_plane_stress_closed_form_and_thickness_strain():
    E, nu = 7.0, 0.3
    law = IsotropicElastic(E, nu)
    k = E / (1 - nu**2)
    expected = np.zeros((4, 4))
    expected[:2, :2] = [[k, nu * k], [nu * k, k]]
    expected[3, 3] = E / 2 / (1 + nu)
    np.testing.assert_allclose(law.elasticity("plane_stress"), expected, atol=1e-14)
    strain = np.array([0.1, -0.3, 0.0, 0.7])
    assert law.thickness_strain() @ strain == pytest.approx(-nu / (1 - nu) * (0.1 - 0.3))


def test_viscosities():
    law = IsotropicElastic(
        3.0, 0.3, damping=Damping(kelvin_voigt=0.2, rayleigh_stiffness=0.3, rayleigh_mass=9.0)
    )
    for hypothesis in ("plane_strain", "plane_stress"):
        np.testing.assert_allclose(law.viscosity(hypothesis), 0.5 * law.elasticity(hypothesis))
    # viscosities in the proportions of the moduli are a retardation time
    apart = Damping(eta_shear=0.5 * law.shear_modulus, eta_bulk=0.5 * law.bulk_modulus)
    other = IsotropicElastic(3.0, 0.3, damping=apart)
    np.testing.assert_allclose(
        other.viscosity("plane_strain"), law.viscosity("plane_strain"), atol=1e-14
    )
    with pytest.raises(MaterialError, match="kelvin_voigt"):
        other.viscosity("plane_stress")
    assert Damping().is_zero
    assert not apart.is_zero


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IsotropicElastic(-1.0, 0.3), r"E = -1, expected a finite number > 0"),
        (lambda: IsotropicElastic(1.0, 0.5), r"nu = 0.5, .*> -1 and < 0.5"),
        (lambda: IsotropicElastic(1.0, -1.0), r"nu = -1"),
        (lambda: IsotropicElastic(float("nan"), 0.3), r"E = nan"),
        (lambda: IsotropicElastic("steel", 0.3), r"E = 'steel'"),
        (lambda: IsotropicElastic(1.0, 0.3, density=-2.0), r"density = -2, .*>= 0"),
        (lambda: IsotropicElastic(1.0, 0.3, damping=0.1), r"damping = 0.1 is not a Damping"),
        (lambda: Damping(kelvin_voigt=-1.0), r"Damping: kelvin_voigt = -1"),
        (lambda: OrthotropicElastic(**{**AXES, "G12": 0.0}), r"G12 = 0"),
        (lambda: OrthotropicElastic(**{**AXES, "nu12": 1.6}), r"nu12 = 1.6.*positive definite"),
        (lambda: OrthotropicElastic(1e6, 1e6, 1.0, 1.01, 0, 0, 1.0), r"positive definite"),
    ],
)
def test_constants_outside_their_range(make, message):
    with pytest.raises(MaterialError, match=message):
        make()
