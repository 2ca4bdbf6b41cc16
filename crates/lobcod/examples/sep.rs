use lobcod::tasks::separate::*; use lobcod::*;
fn main(){ let a:Vec<String>=std::env::args().collect(); let h:usize=a[1].parse().unwrap(); let w:usize=a[2].parse().unwrap();
 let b=std::fs::read(&a[3]).unwrap(); let v:Vec<f32>=b[b.len()-h*w*4..].chunks_exact(4).map(|x|f32::from_le_bytes([x[0],x[1],x[2],x[3]])).collect();
 let s=Signal::from_planar(Extent::new(&[h,w]).unwrap(),1,v).unwrap();
 let t=std::time::Instant::now(); base::smooth_on(&s,None,5.0,0).unwrap(); println!("base {:?}",t.elapsed());
 for tol in [1e-1]{ let p=SeparateParams{tolerance:tol,alternations:4,..SeparateParams::new(Penalty::Absolute(1.0))};
 let l=p.check().unwrap().run(&s,&Dictionary::natural(),&mut ()).unwrap(); println!("tol {tol} alt {} status {} obj {} gap {:.2e} {:.2}s nnz {}",l.alternations,l.report.status,l.report.total.objective,l.report.total.relative_gap(),l.report.seconds,l.report.total.nonzeros);
 for x in &l.report.history{ if let Some(g)=x.relative_gap{print!(" {:.2}s {:.0} {:.1e};",x.seconds,x.objective,g)}} println!();}
}
