"""What the processor, or LLVM, does in its own way, by the names that the prelude has for it."""

from __future__ import annotations

DEFINED = frozenset({"popcount", "copy"})
TEXT = """
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define internal i64 @popcount(i64 %x) alwaysinline {
  %n = call i64 @llvm.ctpop.i64(i64 %x)
  ret i64 %n
}

define internal i64 @copy(ptr %w, i64 %to, i64 %of, i64 %count) alwaysinline {
  %there = getelementptr inbounds i64, ptr %w, i64 %to
  %here = getelementptr inbounds i64, ptr %w, i64 %of
  %size = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %there, ptr %here, i64 %size, i1 false)
  ret i64 0
}

define internal i64 @floor_div(i64 %a, i64 %b) alwaysinline {
  %zero = icmp eq i64 %b, 0
  %minus = icmp eq i64 %b, -1
  %odd = or i1 %zero, %minus
  %d = select i1 %odd, i64 1, i64 %b
  %q = sdiv i64 %a, %d
  %r = srem i64 %a, %d
  %signs = xor i64 %r, %d
  %apart = icmp slt i64 %signs, 0
  %rest = icmp ne i64 %r, 0
  %lower = and i1 %apart, %rest
  %less = sext i1 %lower to i64
  %floor = add i64 %q, %less
  %negative = sub i64 0, %a
  %one = select i1 %minus, i64 %negative, i64 %floor
  %all = select i1 %zero, i64 0, i64 %one
  ret i64 %all
}

define internal i64 @floor_mod(i64 %a, i64 %b) alwaysinline {
  %q = call i64 @floor_div(i64 %a, i64 %b)
  %p = mul i64 %q, %b
  %r = sub i64 %a, %p
  %zero = icmp eq i64 %b, 0
  %all = select i1 %zero, i64 0, i64 %r
  ret i64 %all
}
"""
