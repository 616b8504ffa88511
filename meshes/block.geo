// A rectangular block, with small elements along its lower side.
//
//   top_left  +--------- top ---------+ top_right
//             |                       |
//           left        body        right
//             |                       |
// bottom_left +------- bottom --------+ bottom_right

DefineConstant[
  width = {2, Name "Parameters/width"},
  height = {1, Name "Parameters/height"},
  fine = {0.1, Name "Parameters/size at the bottom"},
  coarse = {0.3, Name "Parameters/size at the top"},
  quads = {0, Choices{0, 1}, Name "Parameters/quadrilaterals"}
];

Point(1) = {0, 0, 0, fine};
Point(2) = {width, 0, 0, fine};
Point(3) = {width, height, 0, coarse};
Point(4) = {0, height, 0, coarse};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
If (quads)
  Recombine Surface {1};
EndIf

Physical Surface("body") = {1};
Physical Curve("bottom") = {1};
Physical Curve("right") = {2};
Physical Curve("top") = {3};
Physical Curve("left") = {4};
Physical Point("bottom_left") = {1};
Physical Point("bottom_right") = {2};
Physical Point("top_right") = {3};
Physical Point("top_left") = {4};
